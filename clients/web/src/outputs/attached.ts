// Pictures attached to a cell: nbformat's addresses `attachment:NAME` become data.

type Bundles = Record<string, unknown>;

const ADDRESS = /\bsrc\s*=\s*(?:"\s*attachment:([^"]*)"|'\s*attachment:([^']*)'|attachment:([^\s"'>]+))/gi;

const TAG = /<[a-z](?:"[^"]*"|'[^']*'|[^<>"'])*>/gi;

/** HTML with the pictures themselves. An address that names no attachment stays. */
export function withAttachments(html: string, attachments: Bundles): string {
  return Object.keys(attachments).length === 0 ? html : html.replace(TAG, (tag) => ofTag(tag, attachments));
}

function ofTag(tag: string, attachments: Bundles): string {
  return tag.replace(ADDRESS, (whole, ...names: (string | undefined)[]) => {
    const bundle = bundleOf(plain((names[0] ?? names[1] ?? names[2] ?? "").trim()), attachments);
    const [type, data] = Object.entries((bundle ?? {}) as Record<string, string>)[0] ?? [];
    return type?.startsWith("image/") ? `src="data:${type};base64,${joined(data).replace(/[^\w+/=]/g, "")}"` : whole;
  });
}

const joined = (data: unknown) => (Array.isArray(data) ? data.join("") : String(data));

/** Attachment by its name as written, or percent-encoded as some programs write it, in whole or in part. */
function bundleOf(written: string, attachments: Bundles): unknown {
  const name = [written, decoded(written)].find((each) => Object.hasOwn(attachments, each));
  if (name !== undefined) return attachments[name];
  const same = Object.keys(attachments).find((each) => decoded(each).normalize() === decoded(written).normalize());
  return same === undefined ? undefined : attachments[same];
}

/** Decodes each percent-encoded character that is one; a plain `%` stays. */
function decoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return bytes;
    }
  });
}

const SIGNS: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'" };

const plain = (html: string) => html.replace(/&(amp|lt|gt|quot|apos|#39);/g, (whole, sign: string) => SIGNS[sign] ?? whole);
