// Events of the notebook as a whole: title, access, policy.
import type { AccessEntry, Subject } from "../messages.ts";
import type { Document } from "../document.ts";
import type { Handlers } from "../apply.ts";
import { present } from "../values.ts";

export const notebookEvents: Handlers = {
  NotebookCreated({ title, metadata, owner }, { document, event, touched }) {
    document.title = title;
    document.metadata = metadata;
    document.created_at = event.recorded_at;
    grant(document, { subject: owner, role: "owner" });
    touched.part("notebook");
    touched.part("access");
  },
  NotebookRenamed({ title }, { document, touched }) {
    document.title = title;
    touched.part("notebook");
  },
  NotebookMetadataSet({ metadata }, { document, touched }) {
    document.metadata = metadata;
    touched.part("notebook");
  },
  NotebookArchived(_, { document, touched }) {
    document.archived = true;
    touched.part("notebook");
  },
  NotebookUnarchived(_, { document, touched }) {
    document.archived = false;
    touched.part("notebook");
  },
  NotebookVersionNamed({ version, name }, { document, touched }) {
    document.named_versions.set(String(version), name);
    touched.part("notebook");
  },
  ContentRedacted(_, { document, event, touched }) {
    document.redaction_epoch = event.version;
    touched.part("notebook");
  },
  NotebookReactivitySet({ reactivity }, { document, touched }) {
    document.reactivity = reactivity;
    touched.part("notebook");
  },
  NotebookKernelSettingsSet({ settings }, { document, touched }) {
    document.kernel_settings = settings;
    touched.part("kernels");
  },
  NotebookErased({ reason, version, hash, access }, { document, event, touched }) {
    document.clear();
    document.access = access;
    document.erased = { by: event.actor, at: event.recorded_at, reason, version, hash };
    for (const part of ["notebook", "order", "access", "kernels", "executions", "comments", "assistants", "schedules"] as const)
      touched.part(part);
  },
  NotebookPolicyChanged({ policy }, { document, touched }) {
    document.policy = policy;
    touched.part("assistants");
  },
  AccessGranted({ subject, role, expires_at }, { document, touched }) {
    grant(document, present({ subject, role, expires_at }));
    touched.part("access");
  },
  AccessRevoked({ subject }, { document, touched }) {
    document.access = document.access.filter((entry) => compare(entry.subject, subject) !== 0);
    touched.part("access");
  },
};

function grant(document: Document, entry: AccessEntry): void {
  const others = document.access.filter((other) => compare(other.subject, entry.subject) !== 0);
  document.access = [...others, entry].sort((a, b) => compare(a.subject, b.subject));
}

const KINDS = ["user", "share_link", "workspace", "agent"];

/** Order of access entries: by kind, then by id. */
function compare(a: Subject, b: Subject): number {
  const byKind = KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind);
  return byKind !== 0 ? byKind : a.id < b.id ? -1 : Number(a.id > b.id);
}
