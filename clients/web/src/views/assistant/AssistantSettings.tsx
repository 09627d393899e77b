// The assistant's settings: model, permission policy and temporary permissions.
import { useEffect, useState } from "react";
import type { NotebookStore } from "../../app/state/store.ts";
import { useTopics } from "../../app/state/topics.ts";
import { date } from "../../app/words/words.ts";
import type { Policy } from "../../protocol/messages.ts";
import type { Model as Offered, Models } from "../../protocol/rest.ts";
import { callWords } from "../../app/words/toolWords.ts";

interface Props {
  store: NotebookStore;
  model: string;
  setModel: (name: string) => void;
  /** Models that have answered in this conversation. */
  models: string[];
}

const POLICIES: { readonly [policy in Policy]: [name: string, words: string] } = {
  guarded: ["Guarded", "Edits freely. Asks before it deletes, overwrites or reaches outside."],
  ask_for_every_edit: ["Ask for every edit", "Asks before everything except reading."],
  trusted: ["Trusted", "Asks only before destructive steps."],
};

interface PickerProps {
  store: NotebookStore;
  model: string;
  setModel: (name: string) => void;
  answered: string[];
}

/** Lists models that the server offers and models that have answered here; any other is typed. */
function ModelPicker({ store, model, setModel, answered }: PickerProps) {
  const { rest } = store.session;
  const [offered, setOffered] = useState<Offered[]>([]);
  const [isTyping, setIsTyping] = useState(false);
  useEffect(() => {
    // An older server has no such route: fall back to typing the name.
    rest.get<Models>("/api/models").then(
      ({ models }) => setOffered(models),
      () => setIsTyping(true),
    );
  }, [rest]);
  const [first] = offered;
  const full = ({ provider, model }: Offered) => `${provider}/${model}`;
  const same = (name: string) => offered.find((each) => name === each.provider || name === full(each));
  const others = [...new Set([...answered, model])].filter((name) => name !== "" && !same(name));
  const known = same(model);
  if (isTyping)
    return (
      <label className="stack tight">
        <span className="small">Model</span>
        <input
          className="field mono"
          defaultValue={model}
          placeholder="Server default"
          spellCheck={false}
          autoFocus={offered.length > 0}
          onBlur={({ target }) => {
            setModel(target.value.trim());
            if (offered.length > 0) setIsTyping(false);
          }}
          onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
        />
        <span className="small quiet">Provider, provider/model, or a model of the first provider</span>
      </label>
    );
  return (
    <label className="stack tight">
      <span className="small">Model</span>
      <select
        className="select"
        value={known === undefined ? model : known === first ? "" : known.provider}
        onChange={({ target }) => (target.value === OTHER ? setIsTyping(true) : setModel(target.value))}
      >
        <option value="">{first ? `${full(first)} (default)` : "Server default"}</option>
        {offered.slice(1).map((each) => (
          <option key={each.provider} value={each.provider}>
            {full(each)}
          </option>
        ))}
        {others.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        <option value={OTHER}>Other…</option>
      </select>
    </label>
  );
}

/** Option value for “Other…”: no model has this name. */
const OTHER = " ";

export function AssistantSettings({ store, model, setModel, models }: Props) {
  useTopics(store, "assistants", "access");
  const { policy, grants, conversations } = store.document;
  // Optimistic choice, until the server has answered.
  const [asked, setAsked] = useState<Policy>();
  const isOwner = store.replica.role === "owner" && store.session.mayManage;
  return (
    <section className="settings stack" aria-label="Model and permissions">
      <ModelPicker store={store} model={model} setModel={setModel} answered={models} />
      <fieldset className="stack tight" disabled={!isOwner}>
        <legend className="small">Permissions{isOwner ? "" : " (only owners can change them)"}</legend>
        {(Object.entries(POLICIES) as [Policy, [string, string]][]).map(([value, [name, words]]) => (
          <label key={value} className="choice">
            <input
              type="radio"
              name="policy"
              checked={(asked ?? policy) === value}
              onChange={() => {
                setAsked(value);
                void store.decide({ SetPolicy: { policy: value } }).finally(() => setAsked(undefined));
              }}
            />
            <span>
              {name}
              <span className="small quiet">{words}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {grants.size > 0 && (
        <div className="stack tight">
          <span className="small">Temporary permissions</span>
          {[...grants].map(([id, grant]) => (
            <p key={id} className="row small">
              <span className="grow">
                {(grant.functions ?? []).length === 0
                  ? "Everything"
                  : (grant.functions ?? []).map((name) => callWords(name, {}, [])).join(", ")}{" "}
                in “{conversations.get(grant.conversation_id)?.title || "Conversation"}” until {date(grant.expires_at)}
              </span>
              <button className="button bare small" onClick={() => void store.send({ RevokeGrant: { grant_id: id } })}>
                Revoke
              </button>
            </p>
          ))}
        </div>
      )}
    </section>
  );
}
