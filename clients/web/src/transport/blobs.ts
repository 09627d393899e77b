// Cache of fetched blobs by hash; blobs are immutable. Evicts the least recently used above a size limit.

const MOST_BYTES = 64_000_000;

export class BlobCache {
  readonly #kept = new Map<string, { blob: Promise<ArrayBuffer>; bytes: number }>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  get(sha256: string, fetch: () => Promise<ArrayBuffer>): Promise<ArrayBuffer> {
    const known = this.#kept.get(sha256) ?? { blob: this.#fetched(sha256, fetch()), bytes: 0 };
    // Moves the entry to the end of the LRU order.
    this.#kept.delete(sha256);
    this.#kept.set(sha256, known);
    return known.blob;
  }

  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  async #fetched(sha256: string, fetching: Promise<ArrayBuffer>): Promise<ArrayBuffer> {
    try {
      const blob = await fetching;
      this.#count(sha256, blob.byteLength);
      return blob;
    } catch (error) {
      this.#kept.delete(sha256);
      throw error;
    }
  }

  #count(sha256: string, bytes: number): void {
    const known = this.#kept.get(sha256);
    if (!known) return;
    known.bytes = bytes;
    this.#bytes += bytes;
    for (const [oldest, { bytes: size }] of this.#kept) {
      if (this.#bytes <= this.#mostBytes) return;
      // Pending blobs have no size yet.
      if (size === 0 || oldest === sha256) continue;
      this.#kept.delete(oldest);
      this.#bytes -= size;
    }
  }
}
