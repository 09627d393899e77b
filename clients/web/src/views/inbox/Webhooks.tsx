// Webhooks of the person: list, new ones with their secrets, tests.
import { RefreshCw, Send, Trash2 } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import type { Session } from "../../app/session/session.ts";
import { ago } from "../../app/words/words.ts";
import type { IssuedWebhook, Webhook, WebhookTest } from "../../protocol/rest.ts";
import { CopyField } from "../../ui/CopyField.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import type { Attempt } from "./NoticeChoices.tsx";

export function Webhooks({ session, attempt }: { session: Session; attempt: Attempt }) {
  const [webhooks, setWebhooks] = useState<Webhook[]>([]);
  const [secret, setSecret] = useState<string>();
  const [said, setSaid] = useState<string>();
  const load = useCallback(
    () => attempt(async () => setWebhooks(await session.rest.get<Webhook[]>("/api/webhooks"))),
    [session, attempt],
  );
  useEffect(() => void load(), [load]);
  const act = (method: string, path: string, done: (answer: unknown) => void, body?: object) =>
    attempt(async () => {
      setSaid(undefined);
      done(await (await session.deciding()).json(method, path, body));
      setWebhooks(await session.rest.get<Webhook[]>("/api/webhooks"));
    });
  const show = (answer: unknown) => setSecret((answer as IssuedWebhook).secret);
  const tested = (answer: unknown) => {
    const { is_accepted, problem } = answer as WebhookTest;
    setSaid(is_accepted ? "The webhook accepted the test." : `The test failed: ${problem}.`);
  };
  return (
    <>
      {webhooks.length > 0 && (
        <ul className="plain">
          {webhooks.map(({ id, url, label, tried_at, problem }) => (
            <li key={id} className="row">
              <span className="grow">
                {label || url}
                <span className="quiet small address">
                  {label && `${url} · `}
                  {tried_at ? `last delivery ${ago(tried_at)}` : "no delivery yet"}
                  {problem && <span className="bad">: {problem}</span>}
                </span>
              </span>
              <IconButton
                label={`Test ${label || url}`}
                title="Send a test"
                onClick={() => void act("POST", `/api/webhooks/${id}/test`, tested)}
              >
                <Send size={15} />
              </IconButton>
              <IconButton
                label={`New secret for ${label || url}`}
                title="New secret; the old one signs too for a day"
                onClick={() => void act("POST", `/api/webhooks/${id}/rotate`, show)}
              >
                <RefreshCw size={15} />
              </IconButton>
              <IconButton
                label={`Delete ${label || url}`}
                title="Delete"
                onClick={() => void act("DELETE", `/api/webhooks/${id}`, () => setSecret(undefined))}
              >
                <Trash2 size={15} />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {said && <p role="status">{said}</p>}
      {secret && (
        <>
          <CopyField text={secret} label="Secret" />
          <p className="quiet small">Copy the secret now. You won’t see it again.</p>
        </>
      )}
      <form
        className="row"
        action={(form) => void act("POST", "/api/webhooks", show, { url: String(form.get("url") ?? ""), label: "" })}
      >
        <input
          className="field grow"
          type="url"
          name="url"
          aria-label="Address of a webhook"
          placeholder="Address of a webhook (https://…)"
          required
        />
        <button className="button">Add webhook</button>
      </form>
    </>
  );
}
