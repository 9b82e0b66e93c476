/** The container engine and the machine that it runs on. @module */

import { Fact, Facts } from "../../components/facts.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure, Loading } from "../../components/states.tsx";
import { bytes, capital, count, plain } from "../../base/text.ts";

export function EngineFacts() {
  const { data, error, reload } = useRead("GET /api/system/docker", {});
  if (error.value) {
    return (
      <Section title="Engine">
        <Failure error={error.value} onRetry={reload} />
      </Section>
    );
  }
  if (!data.value) return <Loading name="Engine" />;
  const { info } = data.value;
  return (
    <Section title="Engine">
      <Facts>
        <Fact name="Host name">{plain(info.name)}</Fact>
        <Fact name="Version">{plain(info.version)}, API {plain(info.apiVersion)}</Fact>
        <Fact name="System">{plain(info.os)}</Fact>
        <Fact name="Kernel">{plain(info.kernel)}</Fact>
        <Fact name="Hardware">
          {`${plain(info.architecture)}, ${count(info.cpus, "processor")}, ${
            bytes(info.memoryBytes)
          }`}
        </Fact>
        <Fact name="Storage driver">{plain(info.storageDriver)}</Fact>
        <Fact name="Control groups">
          {info.cgroupVersion === null ? "–" : `Version ${plain(info.cgroupVersion)}`}
        </Fact>
        <Fact name="Rootless">{info.rootless ? "Yes" : "No"}</Fact>
        <Fact name="Swarm">{capital(plain(info.swarm))}</Fact>
        {info.warnings.length > 0 && (
          <Fact name="Warnings">
            <span class="wrap">{info.warnings.map(plain).join("\n")}</span>
          </Fact>
        )}
      </Facts>
    </Section>
  );
}
