// Events of kernel sessions and their registered functions.
import type { KernelLaunchFailed, KernelLaunchRequested, KernelSession, UserFunction } from "../messages.ts";
import type { Folding, Handlers } from "../apply.ts";
import { present, userFunction, without } from "../values.ts";

export const kernelEvents: Handlers = {
  KernelLaunchRequested({ kernel_session, kernelspec, agent, labels }, folding) {
    const requested_version = folding.event.version;
    const placement = placementOf(agent, labels);
    set(folding, kernel_session, { kernelspec, phase: "requested", requested_version, ...(placement && { placement }) });
  },
  KernelLaunchClaimed: ({ kernel_session, agent }, folding) => change(folding, kernel_session, { phase: "claimed", agent }),
  KernelSessionStarted({ kernel_session, agent, language_info, sandbox }, folding) {
    folding.document.kernel_notice = undefined;
    change(folding, kernel_session, { phase: "started", agent, language_info, sandbox, fence: folding.event.version });
    folding.touched.part("kernels");
  },
  KernelRestartRequested({ kernel_session, next }, folding) {
    const old = folding.document.kernels.get(kernel_session);
    if (!old) return;
    const { kernelspec, agent, requested_version, placement } = old;
    change(folding, kernel_session, { phase: "ending" });
    set(folding, next, { kernelspec, agent, requested_version, phase: "claimed", ...(placement && { placement }) });
  },
  KernelShutdownRequested: ({ kernel_session }, folding) => change(folding, kernel_session, { phase: "ending" }),
  KernelInterruptRequested() {},
  KernelLaunchFailed: (payload, folding) => leave(folding, payload),
  KernelSessionEnded(payload, folding) {
    const { kernel_session } = payload;
    const { functions, kernels } = folding.document;
    for (const [name, known] of functions) {
      if (known.kernel_session === kernel_session) functions.set(name, present({ ...known, kernel_session: null }));
    }
    const wasAskedFor = kernels.get(kernel_session)?.phase === "ending";
    leave(folding, payload, wasAskedFor);
  },
  KernelFunctionsRegistered: ({ kernel_session, functions }, folding) => register(folding, kernel_session, functions),
  KernelFunctionsForgotten({ names }, { document, touched }) {
    for (const name of names) document.functions.delete(name);
    touched.part("kernels");
  },
};

/** The agents that may start a kernel; `undefined`: any. */
function placementOf(agent?: string | null, labels?: KernelLaunchRequested["labels"]): KernelSession["placement"] {
  const asks = Object.keys(labels ?? {}).length > 0;
  if (!agent && !asks) return undefined;
  return { ...(agent && { agent }), ...(asks && { labels }) };
}

function set({ document, touched }: Folding, id: string, session: KernelSession): void {
  document.kernels.set(id, present(without(session, "language_info", "sandbox")));
  touched.part("kernels");
}

function change(folding: Folding, id: string, fields: Partial<KernelSession>): void {
  const session = folding.document.kernels.get(id);
  if (session) set(folding, id, { ...session, ...fields });
}

function leave({ document, event, touched }: Folding, payload: KernelLaunchFailed, wasAskedFor = false): void {
  const { kernel_session, cause, detail } = payload;
  document.kernels.delete(kernel_session);
  if (!wasAskedFor) document.kernel_notice = present({ kernel_session, cause, detail, version: event.version });
  touched.part("kernels");
}

/** Replaces the functions of a session. A function registered again without changes keeps its version. */
function register({ document, event, touched }: Folding, session: string, functions: UserFunction[]): void {
  const names = new Set(functions.map((each) => each.name));
  for (const [name, known] of document.functions) {
    if (known.kernel_session === session && !names.has(name)) document.functions.delete(name);
  }
  for (const each of functions.map(userFunction)) {
    const known = document.functions.get(each.name);
    const isSame = known && JSON.stringify(known.function) === JSON.stringify(each);
    const registered_version = isSame ? known.registered_version : event.version;
    document.functions.set(each.name, { function: each, registered_version, kernel_session: session });
  }
  touched.part("kernels");
}
