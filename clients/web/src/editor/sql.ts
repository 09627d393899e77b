// SQL in editors and in highlighted code. Loaded with the first SQL cell.
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { type Token, tokensOf } from "../outputs/highlight.ts";

/** DuckDB and SQLite use nearly PostgreSQL's syntax. */
export const language = sql({ dialect: PostgreSQL });

export const highlightSql = (source: string): Token[] => tokensOf(source, PostgreSQL.language.parser);
