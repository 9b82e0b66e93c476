"""Prints what `docker-compose config` (1.29) prints for each of the Compose files that it accepts, as
a JSON object by the names of the files. The files are arguments. One process is faster than many."""

import json
import os
import sys

from compose.config import config
from compose.config.environment import Environment
from compose.config.errors import ConfigurationError
from compose.config.serialize import serialize_config

models = {}
for path in sys.argv[1:]:
    directory = os.path.dirname(path)
    # Without the variables of this process.
    environment = Environment(Environment.from_env_file(directory, None))
    for name in os.environ:
        environment.pop(name, None)
    try:
        details = config.find(directory, [os.path.basename(path)], environment)
        models[os.path.basename(path)] = serialize_config(config.load(details))
    except ConfigurationError as error:
        print(path, error.msg, file=sys.stderr)
json.dump(models, sys.stdout)
