// SQL in editors and where nobody edits it. Loaded with the first query.
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { type Token, tokensOf } from "./highlight.ts";

/** DuckDB and SQLite speak nearly PostgreSQL's. */
export const language = sql({ dialect: PostgreSQL });

export const highlightSql = (source: string): Token[] => tokensOf(source, PostgreSQL.language.parser);
