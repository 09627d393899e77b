// Colours of programs on the page's light and dark grounds: a colour that could not be read becomes darker or lighter.

export type Rgb = readonly [red: number, green: number, blue: number];

/** Luminance of the page's darkest light ground and lightest dark ground, those of warnings and errors. */
const LIGHT = 0.82;
const DARK = 0.03;
/** Least contrast of text by WCAG. */
const LEAST = 4.5;

function luminance(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((each) => {
    const part = each / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/** The colour, mixed with black or white until it can be read on a ground. */
function readable(colour: Rgb, ground: number): Rgb {
  const end = ground > 0.5 ? 0 : 255;
  const mixed = (part: number): Rgb => {
    const [red, green, blue] = colour.map((each) => Math.round(each + (end - each) * part));
    return [red ?? 0, green ?? 0, blue ?? 0];
  };
  for (let part = 0; part < 1; part += 0.05) if (contrast(luminance(mixed(part)), ground) >= LEAST) return mixed(part);
  return mixed(1);
}

const css = (colour: Rgb) => `rgb(${colour.join(", ")})`;

/** A text colour for both themes. */
export function inkFor(colour: Rgb): string {
  const [light, dark] = [readable(colour, LIGHT), readable(colour, DARK)].map(css);
  return light === dark ? String(light) : `light-dark(${light}, ${dark})`;
}

/** Black or white, whichever can be read on a colour. */
export function inkOn(colour: Rgb): string {
  const ground = luminance(colour);
  return contrast(ground, 0) >= contrast(ground, 1) ? css([0, 0, 0]) : css([255, 255, 255]);
}

export const groundFor = css;
