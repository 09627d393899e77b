// Messages between page and frame about widgets, and the set of widgets that a view needs.

export interface WidgetState {
  state: Record<string, unknown>;
  buffers?: { path: string[]; base64: string }[];
  /** Undefined for widgets. */
  target?: string | null;
  /** The run, for a progress comm. */
  execution_id?: string | null;
}

export type WidgetChange =
  | { opened: { comm_id: string } & WidgetState }
  | { message: { comm_id: string; data: Record<string, unknown>; buffers?: string[]; parent?: string | null } }
  | { closed: { comm_id: string } };

export interface WidgetDrawing {
  kind: "widgets";
  model: string;
  widgets: [string, WidgetState][];
  /** A kernel handles the widget's messages. */
  isLive: boolean;
  mayMove: boolean;
}

/** Message of a widget in the frame to the kernel. */
export interface WidgetMessage {
  id: number;
  comm_id: string;
  data: Record<string, unknown>;
  buffers: string[];
}

const MOST_BYTES = 2 << 20;
const MOST_BUFFERS = 64;

/** Validates a message from the frame, which may send anything. */
export function widgetMessage(value: unknown): WidgetMessage | undefined {
  const { id, comm_id, data, buffers } = (value ?? {}) as Record<string, unknown>;
  if (typeof id !== "number" || !Number.isSafeInteger(id) || typeof comm_id !== "string") return undefined;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  const { method } = data as { method?: unknown };
  if (method !== "update" && method !== "custom" && method !== "request_state") return undefined;
  if (!Array.isArray(buffers) || buffers.length > MOST_BUFFERS) return undefined;
  const encoded = buffers.map(base64);
  try {
    const text = JSON.stringify(data);
    const size = encoded.reduce((sum, each) => sum + (each?.length ?? MOST_BYTES), text.length);
    if (size > MOST_BYTES) return undefined;
    return { id, comm_id, data: JSON.parse(text) as Record<string, unknown>, buffers: encoded as string[] };
  } catch {
    return undefined;
  }
}

function base64(buffer: unknown): string | undefined {
  const bytes = ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : buffer instanceof ArrayBuffer && new Uint8Array(buffer);
  if (!bytes || bytes.length > MOST_BYTES) return undefined;
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Ids of the widget, its parts, and the links between them with their targets. */
export function closure(all: ReadonlyMap<string, WidgetState>, root: string): Set<string> {
  const references = new Map([...all].map(([id, { state }]) => [id, referencesIn(state)]));
  const found = new Set<string>();
  const visit = (id: string) => {
    if (found.has(id) || !all.has(id)) return;
    found.add(id);
    for (const each of references.get(id) ?? []) visit(each);
  };
  visit(root);
  for (const [id, { state }] of all) {
    if (/LinkModel$/.test(String(state["_model_name"])) && references.get(id)?.some((each) => found.has(each))) visit(id);
  }
  return found;
}

function referencesIn(state: Record<string, unknown>): string[] {
  return [...JSON.stringify(state).matchAll(/IPY_MODEL_([\w-]+)|"model_id":"([\w-]+)"/g)].map((each) => each[1] ?? each[2] ?? "");
}

/** Widget states saved in the notebook's file, in nbformat's shape. */
export function savedWidgets(metadata: unknown): Map<string, WidgetState> {
  const widgets = (metadata as { widgets?: Record<string, unknown> } | null)?.widgets;
  const saved = widgets?.["application/vnd.jupyter.widget-state+json"] as { state?: Record<string, unknown> } | undefined;
  const found = new Map<string, WidgetState>();
  for (const [id, value] of Object.entries(saved?.state ?? {})) {
    const widget = (value ?? {}) as Record<string, unknown>;
    if (typeof widget["state"] !== "object" || widget["state"] === null) continue;
    const { model_name, model_module, model_module_version } = widget;
    const names = { _model_name: model_name, _model_module: model_module, _model_module_version: model_module_version };
    const buffers = Array.isArray(widget["buffers"]) ? (widget["buffers"] as { path: string[]; data: string }[]) : [];
    found.set(id, {
      state: { ...names, ...(widget["state"] as Record<string, unknown>) },
      buffers: buffers.map(({ path, data }) => ({ path, base64: data })),
    });
  }
  return found;
}
