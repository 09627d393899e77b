// ULIDs: unique ids that sort by creation time.

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const RANDOM_DIGITS = 16;

export function newId(now = Date.now()): string {
  let time = "";
  for (let rest = now, digit = 0; digit < 10; digit++, rest = Math.floor(rest / 32)) time = DIGITS.charAt(rest % 32) + time;
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_DIGITS));
  return time + Array.from(random, (byte) => DIGITS.charAt(byte % 32)).join("");
}
