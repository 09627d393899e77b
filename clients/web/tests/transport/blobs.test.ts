import { expect, test, vi } from "vitest";
import { BlobCache } from "../../src/transport/blobs.ts";

const of = (bytes: number) => vi.fn(() => Promise.resolve(new ArrayBuffer(bytes)));

test("a blob is fetched once, and the last used ones stay", async () => {
  const cache = new BlobCache(100);
  const [first, second, third] = [of(40), of(40), of(40)];
  await cache.get("a", first);
  await cache.get("b", second);
  await cache.get("a", first);
  expect(first).toHaveBeenCalledTimes(1);
  await cache.get("c", third);
  await cache.get("a", first);
  await cache.get("b", second);
  expect([first, second, third].map(({ mock }) => mock.calls.length)).toEqual([1, 2, 1]);
});

test("what failed is fetched again; one that is larger than all is given, and not kept for long", async () => {
  const cache = new BlobCache(100);
  await expect(cache.get("a", () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  const huge = of(500);
  expect((await cache.get("a", huge)).byteLength).toBe(500);
  await cache.get("b", of(10));
  await cache.get("a", huge);
  expect(huge).toHaveBeenCalledTimes(2);
});
