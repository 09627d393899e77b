// File sizes in words.
const UNITS: [number, string][] = [
  [1, "byte"],
  [1e3, "kilobyte"],
  [1e6, "megabyte"],
  [1e9, "gigabyte"],
];

export function sizeWords(bytes: number): string {
  const [size, unit] = UNITS.findLast(([least]) => bytes >= least) ?? [1, "byte"];
  const unitDisplay = unit === "byte" ? "long" : "short";
  const format: Intl.NumberFormatOptions = { style: "unit", unit, unitDisplay, maximumSignificantDigits: 3 };
  return new Intl.NumberFormat(undefined, format).format(bytes / size);
}
