/**
 * Passwords that are guessed first: those with at least 12 characters among the 10 000 most common
 * ones, as leaks until 2017 show them. Shorter ones are refused anyway. In lower case.
 */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
010203040506 111111111111 111222tianya 112233445566 123123123123 123321123321 123456123456
123456654321 1234567890-= 12345678900987654321 123456789123 123456789123456789 123456789987654321
123456789abc 123456789asd 123456789qwe 123456qwerty 123qwe123qwe 123qweasdzxc 1q2w3e4r5t6y
1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1q2w3e4r5t6y7u8i9o 1q2w3e4r5t6y7u8i9o0p 1qaz2wsx3edc 1qazxsw23edc
administrator asdfghjkl123 finalfantasy ichliebedich international jamesbond007 justinbieber
leavemealone megaparol12345 motherfucker password1234 playstation3 polniypizdec0211
polniypizdec1102 polniypizdec110211 professional projectsadminx q1w2e3r4t5y6 qazwsxedc123
qazwsxedcrfv qweasdzxc123 qwerasdfzxcv qwerty123456 qwertyqwerty qwertyuiop12 qwertyuiop123
qwertyuiop[] seniseviyorum sonyericsson startfinding telechargement temppassword zxcasdqwe123
йцукенгшщзхъ
`.trim().split(/\s+/),
);
