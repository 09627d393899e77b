export function complaintsIn(source: string, file: string): string[];
