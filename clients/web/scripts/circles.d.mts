export type Imports = Map<string, string[]>;
export function importsIn(folder: string): Imports;
export function between(imports: Imports, folder?: string): Imports;
export function circleIn(imports: Imports): string[] | undefined;
export function circlesIn(src: string): string[];
