// Kernel sessions, and the functions that they have registered.
import type { KernelSession, UserFunction } from "../messages.ts";
import type { Folding, Handlers } from "../apply.ts";
import { present, userFunction, without } from "../values.ts";
import { advance } from "./executions.ts";

export const kernelEvents: Handlers = {
  KernelLaunchRequested({ kernel_session, kernelspec }, folding) {
    const requested_version = folding.event.version;
    set(folding, kernel_session, { kernelspec, phase: "requested", requested_version });
  },
  KernelLaunchClaimed: ({ kernel_session, agent }, folding) => change(folding, kernel_session, { phase: "claimed", agent }),
  KernelSessionStarted({ kernel_session, agent, language_info }, folding) {
    folding.document.kernel_notice = undefined;
    change(folding, kernel_session, { phase: "started", agent, language_info, fence: folding.event.version });
    folding.touched.part("kernels");
  },
  KernelRestartRequested({ kernel_session, next }, folding) {
    const old = folding.document.kernels.get(kernel_session);
    if (!old) return;
    const { kernelspec, agent, requested_version } = old;
    change(folding, kernel_session, { phase: "ending" });
    set(folding, next, { kernelspec, agent, requested_version, phase: "claimed" });
  },
  KernelShutdownRequested: ({ kernel_session }, folding) => change(folding, kernel_session, { phase: "ending" }),
  KernelInterruptRequested({ execution_id }, folding) {
    if (execution_id) advance(folding, execution_id, () => ({ cancel_requested: true }));
  },
  KernelLaunchFailed: ({ kernel_session, cause }, folding) => leave(folding, kernel_session, cause),
  KernelSessionEnded({ kernel_session, cause }, folding) {
    const { functions, kernels } = folding.document;
    for (const [name, known] of functions) {
      if (known.kernel_session === kernel_session) functions.set(name, present({ ...known, kernel_session: null }));
    }
    const wasAskedFor = kernels.get(kernel_session)?.phase === "ending";
    leave(folding, kernel_session, wasAskedFor ? undefined : cause);
  },
  KernelFunctionsRegistered: ({ kernel_session, functions }, folding) => register(folding, kernel_session, functions),
  KernelFunctionsForgotten({ names }, { document, touched }) {
    for (const name of names) document.functions.delete(name);
    touched.part("kernels");
  },
};

function set({ document, touched }: Folding, id: string, session: KernelSession): void {
  document.kernels.set(id, present(without(session, "language_info")));
  touched.part("kernels");
}

function change(folding: Folding, id: string, fields: Partial<KernelSession>): void {
  const session = folding.document.kernels.get(id);
  if (session) set(folding, id, { ...session, ...fields });
}

function leave({ document, event, touched }: Folding, kernel_session: string, cause: string | undefined): void {
  document.kernels.delete(kernel_session);
  if (cause !== undefined) document.kernel_notice = { kernel_session, cause, version: event.version };
  touched.part("kernels");
}

/** The session's set is replaced. A function that is registered again unchanged keeps its version. */
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
