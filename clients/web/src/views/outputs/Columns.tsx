// Column actions of a table: sort, filter, rename, move, hide and copy.
import { Menu } from "@base-ui/react/menu";
import { ArrowDown, ArrowUp, ChevronDown, Columns3, X } from "lucide-react";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import {
  ALONE,
  type Arrangement,
  OPERATORS,
  type Operator,
  filterValue,
  hiding,
  moved,
  nameOf,
  renamed,
  shownColumns,
} from "../../outputs/columns.ts";
import type { Sorting, Table } from "../../outputs/table.ts";
import { MenuPopup } from "../../ui/MenuPopup.tsx";

/** A column's pending dialog: filter, rename or statistics. */
export interface Asked {
  column: number;
  what: "filter" | "name" | "statistics";
}

interface PartProps {
  table: Table;
  arrangement: Arrangement;
  arrange: (arrangement: Arrangement) => void;
}

interface HeadProps extends PartProps {
  column: number;
  sorting: Sorting | undefined;
  sort: () => void;
  ask: (asked: Asked) => void;
  copy: (columns: number[]) => void;
}

export function Head({ table, column, sorting, sort, ...menu }: HeadProps) {
  const { note, isNumeric } = table.columns[column] ?? { isNumeric: false };
  const name = nameOf(table, menu.arrangement, column);
  const isSorted = sorting?.column === column;
  const Arrow = sorting?.isDown ? ArrowDown : ArrowUp;
  return (
    <th
      scope="col"
      className={isNumeric ? "number" : ""}
      aria-sort={!isSorted ? "none" : sorting.isDown ? "descending" : "ascending"}
    >
      <div className="head">
        <button className="sort" onClick={sort} title="Sort" aria-label={name === "" ? "Sort by the index" : undefined}>
          {name}
          {note && <span className="quiet"> {note}</span>}
          {isSorted && <Arrow size={12} aria-hidden />}
        </button>
        <ColumnMenu table={table} column={column} {...menu} />
      </div>
    </th>
  );
}

type MenuProps = Omit<HeadProps, "sorting" | "sort">;

function ColumnMenu({ table, column, arrangement, arrange, ask, copy }: MenuProps) {
  // A form opened from the menu takes the focus itself.
  const hasAsked = useRef(false);
  const shown = shownColumns(arrangement);
  const at = shown.indexOf(column);
  const asking = (what: Asked["what"]) => {
    hasAsked.current = true;
    ask({ column, what });
  };
  const items: [string, boolean, () => void][] = [
    ["Filter…", true, () => asking("filter")],
    ["Statistics", true, () => asking("statistics")],
    ["Rename…", true, () => asking("name")],
    ["Move left", at > 0, () => arrange(moved(arrangement, column, -1))],
    ["Move right", at < shown.length - 1, () => arrange(moved(arrangement, column, 1))],
    ["Hide", shown.length > 1, () => arrange(hiding(arrangement, column, true))],
    ["Copy column", true, () => copy([column])],
  ];
  return (
    <Menu.Root onOpenChange={(isOpen) => isOpen && (hasAsked.current = false)}>
      <Menu.Trigger className="column-menu" aria-label={`Column “${nameOf(table, arrangement, column) || "index"}”`}>
        <ChevronDown size={13} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={2} align="end" className="above">
          <MenuPopup finalFocus={() => !hasAsked.current}>
            {items.map(([words, isPossible, act]) => (
              <Menu.Item key={words} className="item" disabled={!isPossible} onClick={act}>
                {words}
              </Menu.Item>
            ))}
          </MenuPopup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

interface FiltersProps extends PartProps {
  asked: Asked | undefined;
  ask: (asked: Asked | undefined) => void;
}

/** The active filters as removable tags, and the pending filter or rename form. */
export function Filters({ table, arrangement, arrange, asked, ask }: FiltersProps) {
  const { filters } = arrangement;
  if (filters.length === 0 && (!asked || asked.what === "statistics")) return null;
  return (
    <div className="filters-list small">
      {filters.map(({ column, operator, value }, index) => (
        <span key={index} className="filter-tag">
          {nameOf(table, arrangement, column) || "index"} {operator}
          {!ALONE.has(operator) && ` ${filterValue(table, column, value)}`}
          <button
            aria-label={`Remove the filter of “${nameOf(table, arrangement, column) || "index"}”`}
            title="Remove filter"
            onClick={() => arrange({ ...arrangement, filters: filters.filter((_, other) => other !== index) })}
          >
            <X size={12} aria-hidden />
          </button>
        </span>
      ))}
      {asked?.what === "filter" && (
        <NewFilter key={asked.column} {...{ table, arrangement, arrange }} column={asked.column} done={() => ask(undefined)} />
      )}
      {asked?.what === "name" && (
        <NewName key={asked.column} {...{ table, arrangement, arrange }} column={asked.column} done={() => ask(undefined)} />
      )}
    </div>
  );
}

interface AskProps extends PartProps {
  column: number;
  done: () => void;
}

function NewFilter({ table, arrangement, arrange, column, done }: AskProps) {
  const isNumeric = table.columns[column]?.isNumeric ?? false;
  const [operator, setOperator] = useState<Operator>(isNumeric ? "≥" : "contains");
  const name = nameOf(table, arrangement, column) || "index";
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const value = String(new FormData(event.currentTarget).get("value") ?? "");
    if (value.trim() !== "" || ALONE.has(operator))
      arrange({ ...arrangement, filters: [...arrangement.filters, { column, operator, value }] });
    done();
  };
  return (
    <form className="ask" onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && done()}>
      <span>{name}</span>
      <select aria-label="Operator" value={operator} onChange={({ target }) => setOperator(target.value as Operator)}>
        {OPERATORS.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      {!ALONE.has(operator) && <input className="filter" name="value" autoFocus aria-label={`Value to filter “${name}” by`} />}
      <button className="button bare small">Filter</button>
    </form>
  );
}

function NewName({ table, arrangement, arrange, column, done }: AskProps) {
  const name = nameOf(table, arrangement, column);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    arrange(renamed(arrangement, column, String(new FormData(event.currentTarget).get("name") ?? "")));
    done();
  };
  return (
    <form className="ask" onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && done()}>
      <input
        className="filter"
        name="name"
        autoFocus
        defaultValue={name}
        aria-label={`New name for “${name || "index"}”`}
        title="Renames the column in this view only"
        onFocus={({ target }) => target.select()}
      />
      <button className="button bare small">Rename</button>
    </form>
  );
}

export function Hiding({ table, arrangement, arrange }: PartProps) {
  const { hidden } = arrangement;
  if (table.columns.length < 3) return null;
  return (
    <details className="columns">
      <summary aria-label="Columns" title="Columns">
        <Columns3 size={14} aria-hidden />
        {hidden.size > 0 && ` ${hidden.size} hidden`}
      </summary>
      <ul>
        {arrangement.order.map((column) => (
          <li key={column}>
            <label>
              <input
                type="checkbox"
                checked={!hidden.has(column)}
                onChange={({ target }) => arrange(hiding(arrangement, column, !target.checked))}
              />{" "}
              {nameOf(table, arrangement, column) || "(index)"}
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}

interface SmallProps {
  label: string;
  isPressed?: boolean;
  disabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}

export function Small({ label, isPressed, children, ...rest }: SmallProps) {
  return (
    <button className="button bare tiny" aria-label={label} title={label} aria-pressed={isPressed} {...rest}>
      {children}
    </button>
  );
}
