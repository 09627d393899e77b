// The administrators' page: accounts, agents, storage, spending, audit and nodes. Lazy: loads when it opens.
import { Coins, Cpu, HardDrive, NotebookText, ScrollText, Server, Users } from "lucide-react";
import { type ComponentType, useEffect, useMemo, useState } from "react";
import { type Session, isNotProved } from "../../app/session/session.ts";
import type { User } from "../../protocol/rest.ts";
import icon from "../../ui/icon.svg";
import "../../ui/administration.css";
import { Boundary } from "../../ui/Broken.tsx";
import { Agents } from "./Agents.tsx";
import { Audit } from "./Audit.tsx";
import { type Loaded, useLoaded } from "./loading.tsx";
import { Nodes, loadNodes } from "./Nodes.tsx";
import { People } from "./People.tsx";
import { type NameOf, allUsers, nameOf } from "./people.ts";
import { Spending } from "./Spending.tsx";
import { Storage } from "./Storage.tsx";

/** Props of a section. */
export interface SectionOf {
  session: Session;
  people: Loaded<User[]>;
  nameOf: NameOf;
}

type Icon = ComponentType<{ size: number; "aria-hidden": boolean }>;

const SECTIONS: { [path: string]: { title: string; Icon: Icon; View: ComponentType<SectionOf> } } = {
  people: { title: "People", Icon: Users, View: People },
  agents: { title: "Agents", Icon: Cpu, View: Agents },
  storage: { title: "Storage", Icon: HardDrive, View: Storage },
  spending: { title: "Spending", Icon: Coins, View: Spending },
  audit: { title: "Audit", Icon: ScrollText, View: Audit },
};

interface Props {
  session: Session;
  /** Section of the address. */
  section: string | undefined;
}

export default function Administration({ session, section }: Props) {
  useEffect(() => {
    document.title = "Administration – Notarium";
  }, []);
  return (
    <div className="administration">
      <header className="row top">
        <h1 className="grow brand">
          <img src={icon} alt="" width={26} height={26} /> Administration
        </h1>
        <a className="button bare" href="#/">
          <NotebookText size={16} aria-hidden /> Notebooks
        </a>
      </header>
      <Gate session={session} section={section} />
    </div>
  );
}

/** Shows the sections to administrators, after their password if the server asks for it. */
function Gate({ session, section }: Props) {
  // After a quarter of an hour the sections stay, and the next request asks again.
  const [isOpen, setIsOpen] = useState(!session.asksAgain);
  const { me } = session;
  if (!me.user?.is_admin)
    return (
      <Closed title="Only administrators can open this page">
        Ask an administrator if you need an account for someone, a password reset or a higher limit.
      </Closed>
    );
  if (!me.scopes.includes("admin") && me.asks_again !== true)
    return <Closed title="This token can’t administer">You’re signed in with a limited token. Sign in with your account.</Closed>;
  if (!isOpen) return <Locked session={session} unlock={() => setIsOpen(true)} />;
  return <Sections session={session} section={section} />;
}

function Closed({ title, children }: { title: string; children: string }) {
  return (
    <main className="closed">
      <h2>{title}</h2>
      <p className="quiet">{children}</p>
    </main>
  );
}

function Locked({ session, unlock }: { session: Session; unlock: () => void }) {
  const [error, setError] = useState<string>();
  const ask = () =>
    session.deciding().then(unlock, (failure: unknown) => {
      if (!isNotProved(failure)) setError((failure as Error).message);
    });
  return (
    <main className="closed">
      <h2>Enter your password to continue</h2>
      <p className="quiet">This server asks for it before it shows accounts. It then counts for 15 minutes in this tab.</p>
      {error && (
        <p role="alert" className="error">
          {error}
        </p>
      )}
      <button className="button primary" onClick={() => void ask()}>
        Continue
      </button>
    </main>
  );
}

function Sections({ session, section = "people" }: Props) {
  const people = useLoaded(session, allUsers);
  const nodes = useLoaded(session, loadNodes);
  const names = useMemo(() => nameOf(people.value), [people.value]);
  // A server of an earlier release has no list of nodes.
  const hasNodes = nodes.value !== undefined || (nodes.error !== undefined && !nodes.isMissing);
  const shown = SECTIONS[section] ?? (section === "nodes" ? undefined : SECTIONS.people);
  return (
    <div className="sections">
      <nav aria-label="Administration">
        {Object.entries(SECTIONS).map(([path, { title, Icon }]) => (
          <Tab key={path} path={path} title={title} Icon={Icon} isHere={shown?.title === title} />
        ))}
        {hasNodes && <Tab path="nodes" title="Nodes" Icon={Server} isHere={!shown} />}
      </nav>
      <main>
        <Boundary what={shown?.title ?? "Nodes"} of={section}>
          {shown ? <shown.View session={session} people={people} nameOf={names} /> : <Nodes session={session} nodes={nodes} />}
        </Boundary>
      </main>
    </div>
  );
}

function Tab({ path, title, Icon, isHere }: { path: string; title: string; Icon: Icon; isHere: boolean }) {
  return (
    <a href={`#/administration/${path}`} aria-current={isHere ? "page" : undefined}>
      <Icon size={16} aria-hidden /> {title}
    </a>
  );
}
