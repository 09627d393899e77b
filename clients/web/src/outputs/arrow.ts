// All rows of an SQL result or data frame: an Arrow stream, compressed with Zstandard, in base64. Loaded on demand. Values have
// the same format as in the first rows (`plain` in clients/python/notarium_kernel/sql/show.py).
import { type Column, CompressionType, Type, setCompressionCodec, tableFromIPC } from "@uwdata/flechette";
import { decompress } from "fzstd";
import { type Head, type Value, readHead } from "./kernelTable.ts";
import type { Field } from "./table.ts";

type DataType = Column<unknown>["type"];

const MOST_CHARACTERS = 2_000;
const DAY_MS = 86_400_000;
/** Units per second, by Arrow's number of the unit. */
const UNITS = [1n, 1_000n, 1_000_000n, 1_000_000_000n];

setCompressionCodec(CompressionType.ZSTD, {
  // The copy is needed because columns are views of this buffer, which must be aligned.
  decode: (bytes) => decompress(bytes).slice(),
  encode: () => {
    throw new Error("nothing is written here");
  },
});

const read = (base64: string) => {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return tableFromIPC(bytes, { useBigInt: true, useDecimalInt: true, useBigIntTimestamp: true, useMap: true });
};

/** First rows of a data frame by column, with the head stored in the schema. */
export function frameOf(base64: string): { head: Head; columns: Value[][] } | undefined {
  const table = read(base64);
  const head = readHead(JSON.parse(table.schema.metadata?.get("notarium") ?? "null"));
  return head && { head, columns: head.columns.map((_, at) => [...(table.getChildAt(at) as Iterable<Value>)]) };
}

export function rowsOf(base64: string): Field[][] {
  const table = read(base64);
  const columns = table.schema.fields.map(({ type }, index) => fieldsOf(table.getChildAt(index), type));
  return Array.from({ length: table.numRows }, (_, row) => columns.map((fields) => fields[row] ?? NULL));
}

const NULL: Field = { text: "", isNull: true };

function fieldsOf(column: Column<unknown>, type: DataType): Field[] {
  const fields: Field[] = [];
  for (const value of column) fields.push(value === null || value === undefined ? NULL : { text: cut(textOf(value, type)) });
  return fields;
}

const cut = (text: string) => (text.length <= MOST_CHARACTERS ? text : text.slice(0, MOST_CHARACTERS) + "…");

function textOf(value: unknown, type: DataType): string {
  switch (type.typeId) {
    case Type.Decimal:
      return decimal(BigInt(value as bigint | number), type.scale);
    case Type.Date:
      return new Date(Number(value)).toISOString().slice(0, 10);
    case Type.Timestamp:
      return timestamp(BigInt(value as bigint), type.unit, type.timezone ?? undefined);
    case Type.Time:
      return clock(BigInt(value as bigint | number), UNITS[type.unit] ?? 1n);
    case Type.Binary:
    case Type.LargeBinary:
    case Type.FixedSizeBinary:
      return "\\x" + Array.from(value as Uint8Array, (byte) => byte.toString(16).padStart(2, "0")).join("");
    case Type.Float:
      return Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "nan" : (value as number) > 0 ? "inf" : "-inf";
    default:
      return typeof value === "object" ? JSON.stringify(value, plain) : String(value);
  }
}

/** JSON replacer for values without a JSON form: big integers, maps, bytes. */
function plain(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Map) return Object.fromEntries(value);
  return ArrayBuffer.isView(value) ? [...(value as Uint8Array)] : value;
}

function decimal(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  return `${unscaled < 0n ? "-" : ""}${whole}${scale > 0 ? `.${digits.slice(digits.length - scale)}` : ""}`;
}

/**
 * Timestamp in Python's format: `2026-11-25 05:00:00`, with a fraction of a second if it is not zero, and the zone's offset.
 */
function timestamp(value: bigint, unit: number, zone: string | undefined): string {
  const perSecond = UNITS[unit] ?? 1n;
  const perDay = perSecond * BigInt(DAY_MS / 1_000);
  const minutes = zone === undefined ? 0 : offsetOf(Number((value * 1_000n) / perSecond), zone);
  const local = value + BigInt(minutes * 60) * perSecond;
  const inDay = ((local % perDay) + perDay) % perDay;
  const day = new Date(Number((local - inDay) / perDay) * DAY_MS).toISOString().slice(0, 10);
  return `${day} ${clock(inDay, perSecond)}${zone === undefined ? "" : offsetText(minutes)}`;
}

/** Offset of a time zone in minutes. */
function offsetOf(time: number, zone: string): number {
  if (/^[+-]\d\d:\d\d$/.test(zone)) return minutesIn(zone);
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  const name = format.formatToParts(time).find((part) => part.type === "timeZoneName")?.value ?? "";
  return minutesIn(name.slice("GMT".length));
}

function minutesIn(offset: string): number {
  const [hours = 0, minutes = 0] = offset.slice(1).split(":").map(Number);
  return (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

function offsetText(minutes: number): string {
  const [size, sign] = [Math.abs(minutes), minutes < 0 ? "-" : "+"];
  const two = (part: number) => String(Math.floor(part)).padStart(2, "0");
  return `${sign}${two(size / 60)}:${two(size % 60)}`;
}

function clock(value: bigint, perSecond: bigint): string {
  const two = (part: bigint) => String(part).padStart(2, "0");
  const [seconds, below] = [value / perSecond, value % perSecond];
  const micros = (below * 1_000_000n) / perSecond;
  const time = `${two(seconds / 3_600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
  return micros === 0n ? time : `${time}.${String(micros).padStart(6, "0")}`;
}
