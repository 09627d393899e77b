import { expect, test } from "vitest";
import { parquetRows } from "../../src/app/files/parquet.ts";

// Files written by pyarrow: a text, a number beyond 2^53, a time and a structure; the last row is empty.
const FILES = {
  snappy: [
    "UEFSMRUAFTgVPCwVBhUAFQYVBhwAAAAcbAIAAAADAwgAAADDhWxlc3VuZAYAAABQw6RybnUVABUsFTAsFQYVABUGFQYcAAAAFlQCAAAAAwMBAA",
    "AAAAAAAAAAAAAAAAAQFQAVLBUwLBUGFQAVBhUGHAAAABZUAgAAAAMDAEAgRkhHBgBA80z2XkcGABUAFS4VLCwVBhUAFQYVBhwAAAAXGAMAAAAD",
    "CgAJAST4PwAAAAAAAARAFQQZbDUAGAZzY2hlbWEVCAAVDCUCGARjaXR5JQBMHAAAABUEJQIYAW4AFQQlAhgCYXQlFEyMEhwsAAAAAAA1AhgFd2",
    "hlcmUVAgAVCiUCGAF4ABYGGRwZTCYAHBUMGSUGABkYBGNpdHkVAhYGFl4WYiYISRwVABUAFQIAPBYcGQYZJgIEAAAAJgAcFQQZJQYAGRgBbhUC",
    "FgYWUhZWJmpJHBUAFQAVAgA8KQYZJgIEAAAAJgAcFQQZJQYAGRgCYXQVAhYGFlIWVibAAUkcFQAVABUCADwpBhkmAgQAAAAmABwVChklBgAZKA",
    "V3aGVyZQF4FQIWBhZUFlImlgJJHBUAFQAVAgA8KQYZNgIABAAAABbWAhYGJggW4AIAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAu",
    "MRlMHAAAHAAAHAAAHAAAAEsBAABQQVIx",
  ],
  zstd: [
    "UEFSMRUAFTgVSiwVBhUAFQYVBhwAAAAotS/9IBzhAAACAAAAAwMIAAAAw4VsZXN1bmQGAAAAUMOkcm51FQAVLBUwLBUGFQAVBhUGHAAAACi1L/",
    "0gFn0AAEgCAAAAAwMBABABAAfgAhUAFSwVPiwVBhUAFQYVBhwAAAAotS/9IBaxAAACAAAAAwMAQCBGSEcGAEDzTPZeRwYAFQAVLhVALBUGFQAV",
    "BhUGHAAAACi1L/0gF7kAAAMAAAADCgAAAAAAAAD4PwAAAAAAAARAFQQZbDUAGAZzY2hlbWEVCAAVDCUCGARjaXR5JQBMHAAAABUEJQIYAW4AFQ",
    "QlAhgCYXQlFEyMEhwsAAAAAAA1AhgFd2hlcmUVAgAVCiUCGAF4ABYGGRwZTCYAHBUMGSUGABkYBGNpdHkVDBYGFl4WcCYISRwVABUAFQIAPBYc",
    "GQYZJgIEAAAAJgAcFQQZJQYAGRgBbhUMFgYWUhZWJnhJHBUAFQAVAgA8KQYZJgIEAAAAJgAcFQQZJQYAGRgCYXQVDBYGFlIWZCbOAUkcFQAVAB",
    "UCADwpBhkmAgQAAAAmABwVChklBgAZKAV3aGVyZQF4FQwWBhZUFmYmsgJJHBUAFQAVAgA8KQYZNgIABAAAABbWAhYGJggWkAMAKCBwYXJxdWV0",
    "LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRlMHAAAHAAAHAAAHAAAAEsBAABQQVIx",
  ],
};

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0)).buffer;

test.each(Object.entries(FILES))("the rows of a Parquet file, %s", async (_, pieces) => {
  expect(await parquetRows(bytesOf(pieces.join("")))).toEqual({
    head: ["city", "n", "at", "where"],
    rows: [
      ["Ålesund", "1", "2026-01-01", '{"x":1.5}'],
      ["Pärnu", "1152921504606846976", "2026-01-02 03:04:05", '{"x":2.5}'],
      ["", "", "", ""],
    ],
    hasMore: false,
    total: 3,
  });
});

test("what is no Parquet file is an error", async () => {
  await expect(parquetRows(new TextEncoder().encode("city,n\n").buffer)).rejects.toThrow();
});
