// Written by generate/generate.mjs from protocol/. Do not edit: run `npm run generate`.
export interface paths {
    "/api/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The agents' tokens that you made; an administrator sees all. */
        get: operations["get_agents"];
        put?: never;
        /** A token for a runtime agent: it reads the notebooks that it covers and reports what its kernels do, nothing else. */
        post: operations["post_agents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Ends an agent's token and its connections. */
        delete: operations["delete_agents_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who changed the accounts, newest first. */
        get: operations["get_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/confirmations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Everything that waits for your decision, in all notebooks; the longest waiting first. */
        get: operations["get_confirmations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/guests/{link}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a guest is called, by the id of the link. */
        get: operations["get_guests_link"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a notebook of an `.ipynb` file (nbformat 1 to 4); the body is the file. Nothing is lost; repairs are named. */
        post: operations["post_import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who the token's holder is, and what it allows. */
        get: operations["get_me"];
        /** Change your name and login. */
        put: operations["put_me"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The sign-ins with providers that are linked to your account. */
        get: operations["get_me_identities"];
        put?: never;
        /** Links the sign-in that the provider sent the browser back with. */
        post: operations["post_me_identities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/identities/{identity}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** You do not sign in so any more, and the sessions that came by it end. The last way into an account stays. */
        delete: operations["delete_me_identities_identity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/identities/begin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** You begin to link a sign-in with the provider to your account: a session does, with the password where there is one. */
        post: operations["post_me_identities_begin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Change your password; your other sessions end. */
        put: operations["put_me_password"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The models that assistants of this server ask, the default first. */
        get: operations["get_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Notebooks that you may see, the last changed first. */
        get: operations["get_notebooks"];
        put?: never;
        /** Makes a notebook; you are its owner. */
        post: operations["post_notebooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The state, now or at a version of the past. */
        get: operations["get_notebooks_notebook"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Renames a notebook or sets its metadata. */
        patch: operations["patch_notebooks_notebook"];
        trace?: never;
    };
    "/api/notebooks/{notebook}/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The notebook's access list. */
        get: operations["get_notebooks_notebook_access"];
        /** Gives somebody a role, or another one. */
        put: operations["put_notebooks_notebook_access"];
        post?: never;
        /** Takes somebody's role away; live connections hear of it at once. */
        delete: operations["delete_notebooks_notebook_access"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Archives a notebook: it is read, exported and forked, not changed or run. */
        post: operations["post_notebooks_notebook_archive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/blobs/{sha256}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Downloads a blob, as bytes and never as a page: always the whole of it, compared with its hash before the first byte is sent. One whose bytes have changed on the disk is refused (`damaged`). */
        get: operations["get_notebooks_notebook_blobs_sha256"];
        /** Uploads a blob under its SHA-256 in lower-case hex; the body is the bytes. Outputs of this notebook may name it from now on. */
        put: operations["put_notebooks_notebook_blobs_sha256"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What assistants asked to do, who decided, and what came of it: first what waits, then the last requested first.
         * @description A page filtered by state may be short or empty; go on while there is a `next`.
         */
        get: operations["get_notebooks_notebook_calls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/calls/{call}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One call of any time, in full; of one that has not started also what it would do, for who is to decide. */
        get: operations["get_notebooks_notebook_calls_call"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/calls/{call}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lets the call happen, once, if what it touches is still as it was. Only people, and tokens with the scope `confirm`. */
        post: operations["post_notebooks_notebook_calls_call_confirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/calls/{call}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Refuses the call; the assistant is told, with the reason. */
        post: operations["post_notebooks_notebook_calls_call_deny"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/calls/{call}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undoes what a call did, also after others edited on top. Runs are not undone. */
        post: operations["post_notebooks_notebook_calls_call_undo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/calls/{call}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a call back that has not started: by the person it is for, or by who may edit. */
        post: operations["post_notebooks_notebook_calls_call_withdraw"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/cells": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Inserts a cell. */
        post: operations["post_notebooks_notebook_cells"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/cells/{cell}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A cell, and the run whose outputs it shows. */
        get: operations["get_notebooks_notebook_cells_cell"];
        put?: never;
        post?: never;
        /** Moves a cell to the trash. */
        delete: operations["delete_notebooks_notebook_cells_cell"];
        options?: never;
        head?: never;
        /** Edits a cell: text, type, metadata, flags; all or nothing. */
        patch: operations["patch_notebooks_notebook_cells_cell"];
        trace?: never;
    };
    "/api/notebooks/{notebook}/cells/{cell}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Moves a cell. */
        post: operations["post_notebooks_notebook_cells_cell_move"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/cells/{cell}/outputs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Clears the outputs that a cell shows; its runs stay in the record. */
        delete: operations["delete_notebooks_notebook_cells_cell_outputs"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/cells/{cell}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Brings a cell in the trash back where it was. */
        post: operations["post_notebooks_notebook_cells_cell_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/cells/{cell}/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begins a thread of comments on a cell, or on a range of its text. */
        post: operations["post_notebooks_notebook_cells_cell_threads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/chat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Asks an assistant, which acts for you, and follows its answer as server-sent events, each with its name as `event` and an `id`. The answer goes on when you leave: `GET …/turns/{turn}/stream` with `Last-Event-ID` gives the rest. */
        post: operations["post_notebooks_notebook_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Any command, as over the socket. */
        post: operations["post_notebooks_notebook_commands"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The conversations with assistants. All who may read the notebook read them. */
        get: operations["get_notebooks_notebook_conversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/conversations/{conversation}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What was said in a conversation, the latest first. */
        get: operations["get_notebooks_notebook_conversations_conversation_messages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/conversations/{conversation}/messages/{message}/flags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Pins a message of a conversation, skips it, or takes that back. */
        put: operations["put_notebooks_notebook_conversations_conversation_messages_message_flags"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events: a page of JSON; `Accept: application/x-ndjson` gives all as JSON Lines; `Accept: text/event-stream` those to come.
         * @description The stream honours `Last-Event-ID`; each event's `id` is its version. A slow reader misses nothing.
         */
        get: operations["get_notebooks_notebook_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The notebook as a file, now or as it was: `ipynb` (nbformat 4.5, the whole notebook), or to read: `html` (one page that runs nothing), `md` (Markdown), `py` (Python in the percent format, without outputs).
         * @description Large outputs whose bytes are missing or damaged are named in words where they belong, and their SHA-256 in the header `notarium-missing-blobs`, comma-separated. Comments are not in the file: the header `notarium-left-out-threads` counts their threads.
         */
        get: operations["get_notebooks_notebook_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a folder holds beside the notebook: the folder in which its kernels start, on the machine of their runtime agent.
         * @description Files are what code in the kernel can read and write: who may run code may list, download and upload them. Nothing of it is recorded.
         */
        get: operations["get_notebooks_notebook_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/files/about": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is known of one file or folder. */
        get: operations["get_notebooks_notebook_files_about"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/files/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Downloads a file as bytes, never as a page. An answer that ends before `content-length` is no whole file: it was changed while it was read, or its runtime agent left. */
        get: operations["get_notebooks_notebook_files_content"];
        /** Uploads a file; the body is the bytes. It has its name when all of it is on the disk there; an upload that breaks off leaves nothing. A file that exists is refused (`file_exists`) unless `overwrite` is true. */
        put: operations["put_notebooks_notebook_files_content"];
        post?: never;
        /** Moves a file or folder to the trash of its runtime agent, where it is kept for 30 days, or as long as the trash has room. A program that has it open goes on writing to it there. */
        delete: operations["delete_notebooks_notebook_files_content"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/files/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives a file, folder or link another name or place. What exists is never replaced (`file_exists`); folders on the way are made. */
        post: operations["post_notebooks_notebook_files_move"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/files/trash": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the trash beside the notebook holds, the last removed first. */
        get: operations["get_notebooks_notebook_files_trash"];
        put?: never;
        post?: never;
        /** Deletes for good all that is in the trash. */
        delete: operations["delete_notebooks_notebook_files_trash"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/files/trash/{entry}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes one entry of the trash for good. */
        delete: operations["delete_notebooks_notebook_files_trash_entry"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/files/trash/{entry}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Brings a file or folder back from the trash, where it was or to another place. What exists is never replaced (`file_exists`). */
        post: operations["post_notebooks_notebook_files_trash_entry_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a new notebook of what this one is or was. */
        post: operations["post_notebooks_notebook_fork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/functions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Functions that the notebook's kernels have registered (`@notarium.tool` in Python). */
        get: operations["get_notebooks_notebook_functions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/functions/{function}/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Calls a function on the kernel that has it: a run like any other. `outcome.executions` is its id. */
        post: operations["post_notebooks_notebook_functions_function_calls"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What conversations may do unasked for a while. */
        get: operations["get_notebooks_notebook_grants"];
        put?: never;
        /** Lets the calls of one conversation pass for a while; never what destroys. */
        post: operations["post_notebooks_notebook_grants"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/grants/{grant}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Ends a grant. */
        delete: operations["delete_notebooks_notebook_grants_grant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Which cell reads what another leaves, and which are stale; also where the notebook is not reactive. */
        get: operations["get_notebooks_notebook_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/kernels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The notebook's kernels, and what could be launched. */
        get: operations["get_notebooks_notebook_kernels"];
        put?: never;
        /** Asks for a kernel: a runtime agent that offers it launches it, now or when one comes. */
        post: operations["post_notebooks_notebook_kernels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/kernels/{kernel}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Shuts a kernel down. */
        delete: operations["delete_notebooks_notebook_kernels_kernel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/kernels/{kernel}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What could stand at a place in code that is being written. Nothing of it is recorded. */
        post: operations["post_notebooks_notebook_kernels_kernel_complete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/kernels/{kernel}/inspect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What the name at a place in code is; behind an open bracket, what is called. Nothing of it is recorded. */
        post: operations["post_notebooks_notebook_kernels_kernel_inspect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/kernels/{kernel}/interrupt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Interrupts what the kernel runs. */
        post: operations["post_notebooks_notebook_kernels_kernel_interrupt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/kernels/{kernel}/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Restarts a kernel: a new session, nothing in its memory. What waits is cancelled. */
        post: operations["post_notebooks_notebook_kernels_kernel_restart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/owner": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes somebody else the owner; you stay as an editor. */
        post: operations["post_notebooks_notebook_owner"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How much assistants may do unasked. */
        get: operations["get_notebooks_notebook_policy"];
        /** Sets how much assistants may do unasked. For owners. */
        put: operations["put_notebooks_notebook_policy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/reactivity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether running a cell brings the cells that hang together with it up to date. */
        get: operations["get_notebooks_notebook_reactivity"];
        /** Sets it. For editors and owners. */
        put: operations["put_notebooks_notebook_reactivity"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/redo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undoes your last undos. */
        post: operations["post_notebooks_notebook_redo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Runs of all times, the last requested first; without their outputs. */
        get: operations["get_notebooks_notebook_runs"];
        put?: never;
        /** Requests runs; they queue in this order. `outcome.executions` are their ids. */
        post: operations["post_notebooks_notebook_runs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/runs/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A run of any time, with its outputs. */
        get: operations["get_notebooks_notebook_runs_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/runs/{run}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels a run that waits, or interrupts one that runs. */
        post: operations["post_notebooks_notebook_runs_run_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/runs/{run}/compare/{other}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compares two runs. */
        get: operations["get_notebooks_notebook_runs_run_compare_other"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/runs/{run}/give-up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives up a run whose runtime agent cannot be reached: it is lost with its kernel, and the next run launches another. */
        post: operations["post_notebooks_notebook_runs_run_give_up"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/runs/{run}/input": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answers what a run asks on stdin. */
        post: operations["post_notebooks_notebook_runs_run_input"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/runs/{run}/inputs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Questions that a run asked on stdin, with their answers, in order. Answers to passwords are not in the record. */
        get: operations["get_notebooks_notebook_runs_run_inputs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The tables and columns of a connection that SQL cells can name, as the kernel reaches it, and never a row. Answered also while the kernel runs something. Nothing of it is recorded. */
        get: operations["get_notebooks_notebook_schema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/share-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The links that were not revoked, newest first. */
        get: operations["get_notebooks_notebook_share_links"];
        put?: never;
        /** A new link. */
        post: operations["post_notebooks_notebook_share_links"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/share-links/{link}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Ends a link and its connections. */
        delete: operations["delete_notebooks_notebook_share_links_link"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels everything that waits and interrupts what runs. */
        post: operations["post_notebooks_notebook_stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/table": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rows of a table that an output shows or a variable holds, sorted and filtered. Nothing of it is recorded. */
        post: operations["post_notebooks_notebook_table"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/table/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a column of such a table holds. Nothing of it is recorded. */
        post: operations["post_notebooks_notebook_table_summary"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/take-over": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Puts somebody in the place of an owner whose account is deactivated. For administrators.
         * @description The record tells all who take part: who took over, from whom.
         */
        post: operations["post_notebooks_notebook_take_over"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/template": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Makes the notebook a template, for all who may read it. */
        put: operations["put_notebooks_notebook_template"];
        post?: never;
        /** The notebook is no template any more. */
        delete: operations["delete_notebooks_notebook_template"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The comments of a notebook: its threads, resolved ones too. */
        get: operations["get_notebooks_notebook_threads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/threads/{thread}/comments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replies in a thread. */
        post: operations["post_notebooks_notebook_threads_thread_comments"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/threads/{thread}/comments/{comment}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Takes a comment of yours away; an owner, anybody's. With its last comment the thread goes. */
        delete: operations["delete_notebooks_notebook_threads_thread_comments_comment"];
        options?: never;
        head?: never;
        /** Changes a comment of yours. */
        patch: operations["patch_notebooks_notebook_threads_thread_comments_comment"];
        trace?: never;
    };
    "/api/notebooks/{notebook}/threads/{thread}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a thread to where its text is now, when cells were split or merged. */
        post: operations["post_notebooks_notebook_threads_thread_move"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/threads/{thread}/reopen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Opens a resolved thread again. */
        post: operations["post_notebooks_notebook_threads_thread_reopen"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/threads/{thread}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Says that what a thread was about is settled. */
        post: operations["post_notebooks_notebook_threads_thread_resolve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/trash": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The cells in the trash, the last deleted first. `POST …/cells/{cell}/restore` brings one back where it was. */
        get: operations["get_notebooks_notebook_trash"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What assistants were asked, how it ended and what it took, the latest first.
         * @description A page may be short or empty; go on while there is a `next`.
         */
        get: operations["get_notebooks_notebook_turns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/turns/{turn}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stops the assistant at once. What it did stays, and can be undone; what waits for a person is taken back. */
        post: operations["post_notebooks_notebook_turns_turn_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/turns/{turn}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follows a turn, from its beginning or from the header `Last-Event-ID` (the `id` of the last event that you have) on; one that is over is told from the record. Leaving stops nothing. 204: you have it all. */
        get: operations["get_notebooks_notebook_turns_turn_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/turns/{turn}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undoes what the assistant did in one turn, also after others edited on top. Runs are not undone. */
        post: operations["post_notebooks_notebook_turns_turn_undo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Takes a notebook out of the archive. */
        post: operations["post_notebooks_notebook_unarchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undoes your last groups, those of one cell, or one group by its id. What the notebook was made with is undone by its id alone. */
        post: operations["post_notebooks_notebook_undo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/variables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The variables of a kernel: names, types, sizes, and the beginning of what they hold. Nothing of it is recorded. */
        get: operations["get_notebooks_notebook_variables"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Proves the chain of hashes up to a version, and replays the state from nothing. */
        get: operations["get_notebooks_notebook_verify"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives a version a name. */
        post: operations["post_notebooks_notebook_versions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebook}/workspace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Puts a notebook into a workspace, whose members then have their role in it. */
        put: operations["put_notebooks_notebook_workspace"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The person with a login: to share a notebook. */
        get: operations["get_people"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/people/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The name behind an id: events have ids alone. */
        get: operations["get_people_user"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/people/matching": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** People by a part of their name or login, at most 10: members of your workspaces; for administrators everybody. */
        get: operations["get_people_matching"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign in. */
        post: operations["post_session"];
        /** Sign out: the token that is presented ends, and so do its connections. */
        delete: operations["delete_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/browser": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A session of its own for a browser that was opened with a kept session, bound to the browser's key. */
        post: operations["post_session_browser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/challenge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a browser signs to open a page of the session that is bound to its key. */
        post: operations["post_session_challenge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A link for one browser, which it opens once, within an hour, as with a one-time token. An earlier link is void. */
        post: operations["post_session_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/oidc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign in with what the provider sent the browser back with. */
        post: operations["post_session_oidc"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/oidc/begin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A browser begins to sign in with the provider: it is told where to go. */
        post: operations["post_session_oidc_begin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/one-time": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a one-time token is good for, and what its exchange needs. It stays good. */
        post: operations["post_session_one_time"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How people sign in to this server. */
        get: operations["get_session_options"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A token for a page that has just opened: the browser proves the key that its session is bound to. */
        post: operations["post_session_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What new notebooks can be made of: starters of this server, and notebooks that are templates. */
        get: operations["get_templates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your sessions and API tokens that were not revoked, newest first. */
        get: operations["get_tokens"];
        put?: never;
        /** A token for a program that acts for you. Only in a session. */
        post: operations["post_tokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Ends a token that you hold or made, and its connections. */
        delete: operations["delete_tokens_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/transfers/{transfer}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** For runtime agents: the bytes of a file that `file_request` said would come. */
        get: operations["get_transfers_transfer"];
        /** For runtime agents: the bytes of a file that `file_request` asked for. Ends when somebody has read them. */
        put: operations["put_transfers_transfer"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What you and your workspaces use of the server, and what you may; with `all=true` everybody, for administrators. */
        get: operations["get_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The accounts, by id. */
        get: operations["get_users"];
        put?: never;
        /** A new account. The person chooses the password. */
        post: operations["post_users"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users/{user}/admin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Makes an administrator, or no administrator. The last one stays. */
        put: operations["put_users_user_admin"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users/{user}/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends an account's tokens and connections, and the agents and links that it made. Its notebooks stay. */
        post: operations["post_users_user_deactivate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users/{user}/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The sign-ins with providers that are linked to an account. */
        get: operations["get_users_user_identities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users/{user}/identities/{identity}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** The person does not sign in so any more, and the sessions that came by it end. */
        delete: operations["delete_users_user_identities_identity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users/{user}/notebooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The notebooks that somebody owns, archived ones too, the last changed first. For administrators. */
        get: operations["get_users_user_notebooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users/{user}/reactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The person may sign in again; tokens that were revoked stay so. */
        post: operations["post_users_user_reactivate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/users/{user}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A one-time token with which the person sets a new password. */
        post: operations["post_users_user_reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Yours. */
        get: operations["get_workspaces"];
        put?: never;
        /** A new workspace, which you own. */
        post: operations["post_workspaces"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspaces/{workspace}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Another name. For its owners. */
        put: operations["put_workspaces_workspace"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspaces/{workspace}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The members, for members. */
        get: operations["get_workspaces_workspace_members"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workspaces/{workspace}/members/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Makes a member, or gives another role. For owners; acts on open connections at once. */
        put: operations["put_workspaces_workspace_members_user"];
        post?: never;
        /** Removes a member, or leaves. Acts on open connections at once. */
        delete: operations["delete_workspaces_workspace_members_user"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The process answers. */
        get: operations["get_healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The server takes requests: not while it starts or stops. What is wrong though it does, for instance that nothing can be written because the disk is full, is in `problems`. */
        get: operations["get_readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Who may do what in a notebook, and what you may. */
        Access: {
            /** @description Sorted by kind (`user`, `share_link`, `workspace`, `agent`), then by id. At most 1,000 entries. */
            access: components["schemas"]["AccessEntry"][];
            /** @description Yours, now. */
            role: components["schemas"]["Role"];
            /**
             * Format: uint64
             * @description The notebook's version at which the list stands.
             */
            version: number;
        };
        /** @description Takes a subject off the access list. The last owner cannot go (`last_owner`). */
        AccessEnd: {
            /** @description `{"kind": "user", "id": "…"}`, or of the kind `share_link`, `workspace` or `agent`. */
            subject: components["schemas"]["Subject"];
        };
        /** @description One line of the access list. A list, because JSON keys cannot be subjects. */
        AccessEntry: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: until it is revoked.
             */
            expires_at?: number | null;
            /** @description What the subject may do. */
            role: components["schemas"]["Role"];
            /** @description Each stands in the list once. */
            subject: components["schemas"]["Subject"];
        };
        /** @description Gives a subject a role, in place of the one it has. Needs the right to share. */
        AccessGrant: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: until it is revoked.
             */
            expires_at?: number | null;
            /** @description `viewer`, `commenter`, `runner`, `author`, `editor`, `owner`; `agent` for runtime agents. */
            role: components["schemas"]["Role"];
            /** @description `{"kind": "user", "id": "…"}`, or of the kind `share_link`, `workspace` or `agent`. */
            subject: components["schemas"]["Subject"];
        };
        /** @description What an account uses, and what it may use. */
        AccountUsage: {
            /** @description Beyond these, what only grows is refused (`limit_exceeded`). */
            limits: components["schemas"]["Amounts"];
            /** @description A person; absent: a workspace. */
            person?: components["schemas"]["UserId"] | null;
            /** @description In the first seconds after a start of the server less than it is: what was there before is being counted. */
            used: components["schemas"]["Amounts"];
            /** @description A workspace; absent: a person. */
            workspace?: components["schemas"]["WorkspaceId"] | null;
        };
        /** @description The author of an event. Ids are opaque; names live in the accounts. */
        Actor: {
            /** @description As in `GET /api/people/{user}`, which has the name. */
            id: components["schemas"]["UserId"];
            /** @constant */
            kind: "user";
        } | {
            /** @constant */
            kind: "guest";
            /** @description The link; it stands for all who came by it. */
            share_link: components["schemas"]["ShareLinkId"];
        } | {
            /** @description What it says and does belongs here. */
            conversation: components["schemas"]["ConversationId"];
            /** @description The person whose rights bound it. */
            for_user: components["schemas"]["UserId"];
            /** @constant */
            kind: "assistant";
        } | {
            /** @description Of its token: the same at every start. */
            id: components["schemas"]["AgentId"];
            /** @constant */
            kind: "agent";
        } | {
            /** @constant */
            kind: "system";
        };
        /** @description Makes an account an administrator, or takes that back. The last administrator stays. */
        AdminChange: {
            /** @description Whether it is to be one. */
            is_admin: boolean;
        };
        /** @description A runtime agent. */
        AgentId: string;
        /** @description Says that the process answers. */
        Alive: {
            /** @description What its operator should look at, in sentences. */
            problems?: string[];
            /** @description `ok`, or `degraded` where there are problems; a server that is not ready answers with a [`Problem`] instead. */
            status: string;
            /** @description The server's release, as in `0.1.0`. */
            version: string;
        };
        /** @description Notebooks, and bytes. */
        Amounts: {
            /**
             * Format: uint64
             * @description Of their large outputs.
             */
            blob_bytes: number;
            /**
             * Format: uint64
             * @description Of their records: payloads, and 256 bytes for each event.
             */
            log_bytes: number;
            /**
             * Format: uint64
             * @description A notebook in a workspace counts for the workspace, any other for each of its owners.
             */
            notebooks: number;
        };
        /** @description An accepted command: what it led to is on disk. */
        Answer: {
            /** @description The command's id: repeat it to get the same answer. */
            command_id: components["schemas"]["CommandId"];
            /** @description The notebook that the command was for; a new one after a fork or an import. */
            notebook: components["schemas"]["NotebookId"];
            /** @description Ids that the server chose, and notices. */
            outcome: components["schemas"]["Outcome"];
            /**
             * Format: uint64
             * @description The notebook's version after the command.
             */
            version: number;
        };
        /** @description Any command, as over the socket. */
        AnyCommand: {
            /** @description A command of `protocol/schema/command.json`. */
            body: components["schemas"]["AnyJson"];
            /** @description The undo group. */
            correlation_id?: components["schemas"]["CorrelationId"] | null;
            /**
             * Format: uint64
             * @description Refuse unless the notebook is at this version. Also as `If-Match`.
             */
            expected_version?: number | null;
            /** @description Chosen by you, new for every command; a repeat is applied once. Absent: `Idempotency-Key`, else new. */
            id?: components["schemas"]["CommandId"] | null;
        };
        AnyJson: unknown;
        AnyObject: Record<string, unknown>;
        /** @description Asks what a column of a table in a kernel's memory holds. */
        AskColumn: {
            /**
             * @description The kernel that is asked; absent: the one that a cell would run on now.
             * @default null
             */
            kernel?: components["schemas"]["KernelSessionId"] | null;
            /** @description Which column of which table. */
            summarize: components["schemas"]["SummarizeColumn"];
        };
        /** @description Asks what could stand at a place in code that is being written. */
        AskCompletion: {
            /** @description The text around the place. */
            code: string;
            /**
             * Format: uint32
             * @description The place in `code`, in UTF-16 code units.
             */
            cursor: number;
        };
        /** @description Asks what the name at a place in code is; behind an open bracket, what is called. */
        AskInspection: {
            /** @description The text around the place. */
            code: string;
            /**
             * Format: uint32
             * @description The place in `code`, in UTF-16 code units.
             */
            cursor: number;
            /**
             * Format: uint8
             * @description 0: signature and documentation; 1: the source too, where the kernel has it.
             * @default 0
             */
            detail?: number;
        };
        /** @description Asks for rows of a table in a kernel's memory. */
        AskTable: {
            /**
             * @description The kernel that is asked; absent: the one that a cell would run on now.
             * @default null
             */
            kernel?: components["schemas"]["KernelSessionId"] | null;
            /** @description Which rows of which table. */
            read: components["schemas"]["ReadTable"];
        };
        /** @description A person's leave for the calls of one conversation. */
        AssistantGrant: {
            /** @description The only one that it is for. */
            conversation_id: components["schemas"]["ConversationId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            expires_at: number;
            /**
             * @description The person for whom the assistant acted when it was issued: another one who goes on in the conversation has no part
             *     in it.
             */
            for_user: components["schemas"]["UserId"];
            /** @description Empty: every function. */
            functions?: string[];
            /** @description It counts only while this person could confirm the call. */
            issued_by: components["schemas"]["Actor"];
        };
        /** @description A picture or a file that goes with a question: a blob of the notebook. */
        Attachment: {
            /** @description What it is, as in `image/png`. */
            media_type: string;
            /** @description As the person's file is called. */
            name: string;
            /** @description Of its bytes, in lower-case hex: the name of the blob. */
            sha256: string;
            /**
             * Format: uint64
             * @description How large it is.
             */
            size_bytes: number;
        };
        /** @description One change of accounts, tokens, workspaces or share links. Rights in a notebook are events of that notebook instead. */
        AuditEntry: {
            /** @description As in `user.deactivate`. */
            action: string;
            /** @description As in `user:01J…`. */
            actor: string;
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            at: number;
            /**
             * Format: uint64
             * @description Counts up over the whole server, from 1; `before` of the next page.
             */
            number: number;
            /** @description The id of what was changed: of a user, token, workspace, notebook or link. */
            subject: string;
        };
        /** @description Denies or withdraws a call. The body may be left out. */
        Because: {
            /**
             * @description Said to the assistant.
             * @default
             */
            reason?: string;
        };
        /** @description A browser that was opened with the token of a session. */
        BindBrowser: {
            /** @description As in signing in. */
            key: string;
            /**
             * @description For the list of your sessions, as in "laptop".
             * @default
             */
            label?: string;
        };
        /** @description One part of an output that lives in a blob instead of the event. */
        BlobPart: {
            /** @description False: the bytes are the UTF-8 text of a JSON string. True: the bytes are JSON. */
            json?: boolean;
            /** @description JSON pointer (RFC 6901) into `content`, where the value was taken out. */
            pointer: string;
            /** @description Lower-case hex of the SHA-256 of the blob's bytes. */
            sha256: string;
            /**
             * Format: uint64
             * @description Of the blob.
             */
            size_bytes: number;
        };
        /** @description One tool call of an assistant, with everything that is on record of it. */
        Call: {
            /** @description The call that must have ended before this one starts. */
            after?: components["schemas"]["ToolCallId"] | null;
            /** @description In full. */
            arguments: components["schemas"]["AnyObject"];
            /** @description What a confirmation names: exactly these arguments of this function. */
            arguments_hash: components["schemas"]["Hash"];
            /**
             * @description By what means a person confirmed or denied it: the door, and the session or token by its label. Absent where nobody did, and
             *     for decisions before version 0.1 recorded it.
             */
            by_means?: components["schemas"]["Means"] | null;
            /**
             * Format: uint64
             * @description When they did.
             */
            decided_at?: number | null;
            /** @description Who confirmed, denied or withdrew it. */
            decided_by?: components["schemas"]["Actor"] | null;
            /**
             * Format: uint64
             * @description From start to end; absent while either is.
             */
            duration_ms?: number | null;
            /**
             * Format: uint64
             * @description When it ended after its start. Absent for calls that never started.
             */
            ended_at?: number | null;
            /**
             * Format: uint64
             * @description Set when a person is asked.
             */
            expires_at?: number | null;
            /** @description The tool's name: one of the built-in tools, or a function that a user has registered. */
            function: string;
            /** @description Also the correlation id of all that it does, so `Undo {"correlation_id": …}` takes that back. */
            id: components["schemas"]["ToolCallId"];
            /**
             * @description What the model call took that asked for it: `input_tokens`, `output_tokens`; `estimated` when the provider did not say.
             *     Calls that it asked for together show the same. Absent outside of turns.
             */
            model_usage?: components["schemas"]["Usage"] | null;
            /** @description What let it through: the policy, a grant, or a person's confirmation. */
            passed_by?: components["schemas"]["OpenPassed"] | null;
            /** @description Of a denial, withdrawal or voiding. */
            reason?: string | null;
            /** @description Why the risk is more than the tool's own. */
            reasons?: string[];
            /**
             * Format: uint64
             * @description Milliseconds since 1970, like all times here.
             */
            requested_at: number;
            /** @description The assistant, and the person for whom it acts. */
            requested_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description The version of its ToolCallRequested event: `before` of the next page.
             */
            requested_version: number;
            /** @description What the assistant was told. */
            result?: string | null;
            /** @description `read`, `edit`, `sensitive` or `destructive`. */
            risk: components["schemas"]["OpenRisk"];
            /**
             * Format: uint64
             * @description Absent: it has not started, or never will.
             */
            started_at?: number | null;
            /** @description At this moment. */
            state: components["schemas"]["CallState"];
            /** @description What it touches, as it was when the call was requested. */
            targets?: components["schemas"]["OpenTarget"][];
            /** @description The turn that asked for it. Absent for assistants outside. */
            turn_id?: components["schemas"]["TurnId"] | null;
        };
        /** @description One call, and what confirming it would do. */
        CallInFull: {
            /** @description Everything that is on record of it. */
            call: components["schemas"]["Call"];
            /** @description What it would do. Absent when it has started or is over. */
            confirmation?: components["schemas"]["Confirmation"] | null;
            /** @description Whether it waits for a decision that you may take. */
            may_decide: boolean;
            /** @description The notebook's. */
            title: string;
        };
        /** @description Tool calls of all times. */
        CallPage: {
            /** @description On the first page those that wait come first. */
            calls: components["schemas"]["Call"][];
            /**
             * Format: uint64
             * @description Ask again with this as `before`; absent when there are no older ones.
             */
            next?: number | null;
        };
        /**
         * @description Where a call stands.
         *
         *     `waiting`: For a person.
         *
         *     `passed`: Nobody need be asked; it has not started yet.
         *
         *     `confirmed`: A person said yes; it has not started yet.
         *
         *     `running`: It has started and not ended: other servers and restarts do not begin it again.
         *
         *     `succeeded`: It did what it was to do; `result` is its answer.
         *
         *     `failed`: It was tried and certainly failed; `result` says why.
         *
         *     `outcome_unknown`: Whoever executed it died meanwhile. It is not repeated.
         *
         *     `denied`: A person said no; `decided_by` and `reason` say who and why.
         *
         *     `withdrawn`: Taken back before it started: by its person, by an editor, or because its turn ended.
         *
         *     `voided`: What it would have acted on has changed, or somebody lost the right.
         *
         *     `expired`: No person decided within the time (24 hours, unless the server is set otherwise).
         * @enum {string}
         */
        CallState: "waiting" | "passed" | "confirmed" | "running" | "succeeded" | "failed" | "outcome_unknown" | "denied" | "withdrawn" | "voided" | "expired";
        /** @description A live cell. In JSON its content stands beside the versions. */
        Cell: {
            /** @description File name to MIME bundle, as in nbformat. Absent: none. */
            attachments?: components["schemas"]["AnyObject"] | null;
            /** @description Says what the source is, and whether it runs. */
            cell_type: components["schemas"]["CellType"];
            /**
             * Format: uint64
             * @description Version of the last event that changed source, type, place or existence. Preconditions use it.
             */
            cell_version: number;
            /** @description Left out where none is set. */
            flags?: components["schemas"]["CellFlags"];
            /** @description As in nbformat. */
            metadata?: components["schemas"]["AnyObject"];
            /** @description The cell's place: cells are sorted by this, then by id. */
            order_key: components["schemas"]["OrderKey"];
            /** @description What an assistant answered, of a prompt cell. */
            reply?: components["schemas"]["Reply"] | null;
            /** @description At most 1 MiB, with `\n` line breaks only. May be empty. */
            source: string;
            /**
             * Format: uint64
             * @description Version of the last event that changed the source. A change whose base is not older needs no transform.
             */
            source_version: number;
        };
        /** @description A cell as it is now. */
        CellAnswer: {
            /** @description Source, type, metadata, flags and versions. */
            cell: components["schemas"]["Cell"];
            /** @description As in the path. */
            cell_id: components["schemas"]["CellId"];
            /** @description The run whose outputs it shows. */
            execution?: components["schemas"]["Execution"] | null;
            /** @description The id of `execution`, to be asked for under `…/runs/{run}`. */
            run?: components["schemas"]["ExecutionId"] | null;
            /** @description The source changed since it was executed. */
            stale: boolean;
            /**
             * Format: uint64
             * @description Of the notebook.
             */
            version: number;
        };
        /** @description Either `source` with `cell_version`, or `change` with `base`; and what else is to change. */
        CellChange: {
            /** @description All attachments, in place of what stands; absent: as they are. */
            attachments?: components["schemas"]["AnyObject"] | null;
            /**
             * Format: uint64
             * @description The notebook's version that `change` applies to.
             */
            base?: number | null;
            /** @description `code`, `markdown`, `raw`, `sql` or `prompt`; absent: as it is. */
            cell_type?: components["schemas"]["CellType"] | null;
            /**
             * Format: uint64
             * @description The `cell_version` that you read; refused when the cell has moved on.
             */
            cell_version?: number | null;
            /** @description A CodeMirror ChangeSet: see `protocol/README.md`, Text. */
            change?: components["schemas"]["ChangeSet"] | null;
            /** @description Flags to be set or cleared; those that are not named stay. */
            flags?: components["schemas"]["CellFlagChanges"] | null;
            /** @description The whole metadata, in place of what stands; absent: as it is. */
            metadata?: components["schemas"]["AnyObject"] | null;
            /** @description A whole new source. */
            source?: string | null;
        };
        /** @description A cell as an event carries it. */
        CellContent: {
            /** @description File name to MIME bundle, as in nbformat. Absent: none. */
            attachments?: components["schemas"]["AnyObject"] | null;
            /** @description Says what the source is, and whether it runs. */
            cell_type: components["schemas"]["CellType"];
            /** @description Left out where none is set. */
            flags?: components["schemas"]["CellFlags"];
            /** @description As in nbformat. */
            metadata?: components["schemas"]["AnyObject"];
            /** @description The cell's place: cells are sorted by this, then by id. */
            order_key: components["schemas"]["OrderKey"];
            /** @description At most 1 MiB, with `\n` line breaks only. May be empty. */
            source: string;
        };
        /** @description Flags to change; absent ones stay. */
        CellFlagChanges: {
            /**
             * Format: uint8
             * @description 1 to 9; 0 removes it.
             */
            bookmark?: number | null;
            /** @description A mark for exporters; Notarium itself keeps it and does nothing with it. */
            exported?: boolean | null;
            /** @description Of a heading: the cells below it, up to the next heading, are not shown. */
            heading_collapsed?: boolean | null;
            /** @description Only the source is shown. */
            outputs_hidden?: boolean | null;
            /** @description Always in the assistant's context. */
            pinned?: boolean | null;
            /** @description Never in the assistant's context. */
            skipped?: boolean | null;
            /** @description Only the outputs are shown. */
            source_hidden?: boolean | null;
        };
        /** @description Marks on a cell that change how it is shown or used, never what it says. */
        CellFlags: {
            /**
             * Format: uint8
             * @description 1 to 9.
             */
            bookmark?: number | null;
            /** @description A mark for exporters; Notarium itself keeps it and does nothing with it. */
            exported?: boolean;
            /** @description Of a heading: the cells below it, up to the next heading, are not shown. */
            heading_collapsed?: boolean;
            /** @description Only the source is shown. */
            outputs_hidden?: boolean;
            /** @description Always in the assistant's context. */
            pinned?: boolean;
            /** @description Never in the assistant's context. */
            skipped?: boolean;
            /** @description Only the outputs are shown. */
            source_hidden?: boolean;
        };
        /** @description A cell, as in nbformat 4.5. */
        CellId: string;
        /** @description Another place for a cell. Needs the right to edit. */
        CellMove: {
            /**
             * Format: uint64
             * @description Refuse when the cell has moved on (`conflict`).
             */
            cell_version?: number | null;
            /** @description `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`. */
            place: components["schemas"]["Place"];
        };
        /** @description One code or query cell. */
        CellReport: {
            /** @description The cell of which the sentence speaks. */
            because_of?: components["schemas"]["CellId"] | null;
            /** @description The cell. */
            cell_id: components["schemas"]["CellId"];
            /** @description Which cells read from it. */
            children?: components["schemas"]["LinkReport"][];
            /** @description Names that it reads and no cell leaves. */
            missing?: string[];
            /** @description Its text does not parse (or is too long): the names are those of an earlier one. */
            outdated?: boolean;
            /** @description From which cells it reads. */
            parents?: components["schemas"]["LinkReport"][];
            /** @description Names that it reads from other cells, sorted. */
            reads: string[];
            /** @description How it stands. */
            standing: components["schemas"]["Standing"];
            /** @description A sentence: why it is not fresh. */
            why?: string | null;
            /** @description Names that it leaves to other cells, sorted. */
            writes: string[];
        };
        /**
         * @description What a cell is. `sql` and `prompt` are written to `.ipynb` as code and markdown with our mark in the metadata.
         *
         *     `code`: Source that the kernel runs.
         *
         *     `markdown`: Markdown, shown as a page.
         *
         *     `raw`: Text that is neither run nor rendered.
         *
         *     `sql`: A query; in `.ipynb` a code cell.
         *
         *     `prompt`: What an assistant is asked; in `.ipynb` a Markdown cell. The cell shows the reply.
         * @enum {string}
         */
        CellType: "code" | "markdown" | "raw" | "sql" | "prompt";
        /** @description CodeMirror's ChangeSet JSON: n keeps n UTF-16 units, [n] deletes n, [n, line, …] replaces n by the lines joined with \n. */
        ChangeSet: (number | [
            number
        ])[];
        /**
         * @description An event of the stream; `type` is also the name of the server-sent event. Blocks are counted from 0 in each model call:
         *     one that begins again replaces what it was, and all blocks after it.
         */
        ChatEvent: {
            /** @description The prompt cell that it answers. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description The conversation that the turn belongs to: go on in it with `Question.conversation`. */
            conversation_id: components["schemas"]["ConversationId"];
            /** @description The model that was asked for. */
            model?: string | null;
            /** @description The person who asked, and for whom the assistant acts. */
            requested_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            started_at: number;
            /** @description The turn: stop it with `POST …/turns/{turn}/cancel`, follow it again with `GET …/turns/{turn}/stream`. */
            turn_id: components["schemas"]["TurnId"];
            /** @constant */
            type: "turn";
        } | {
            /**
             * Format: uint32
             * @description No turn has more model calls than this: 10.
             */
            max_turns: number;
            /**
             * Format: uint32
             * @description The number of the model call: 2 or more.
             */
            turn: number;
            /** @constant */
            type: "turn_start";
        } | {
            /**
             * Format: uint
             * @description The number of the block in its reply, from 0.
             */
            block: number;
            /**
             * Format: uint32
             * @description The number of the model call in the turn, from 1.
             */
            model_call: number;
            /** @constant */
            type: "text_start";
        } | {
            /**
             * Format: uint
             * @description The number of the block in its reply, from 0.
             */
            block: number;
            /**
             * Format: uint32
             * @description The number of the model call in the turn, from 1.
             */
            model_call: number;
            /** @description To be joined to what the block has; never empty. */
            text: string;
            /** @constant */
            type: "text_delta";
        } | {
            /**
             * Format: uint
             * @description The number of the block in its reply, from 0.
             */
            block: number;
            /**
             * Format: uint32
             * @description The number of the model call in the turn, from 1.
             */
            model_call: number;
            /** @constant */
            type: "content_block_stop";
        } | {
            /**
             * Format: uint
             * @description The number of the block in its reply, from 0.
             */
            block: number;
            /**
             * Format: uint32
             * @description The number of the model call in the turn, from 1.
             */
            model_call: number;
            /** @description The model's own name for the call: the same in the later events about it. */
            tool_id: string;
            /** @description The function that it calls. */
            tool_name: string;
            /** @constant */
            type: "tool_start";
        } | {
            /**
             * Format: uint32
             * @description The attempt that failed, from 1.
             */
            attempt: number;
            /** @description What went wrong, in a sentence for people. */
            error: string;
            /**
             * Format: uint32
             * @description The number of the model call in the turn, from 1.
             */
            model_call: number;
            /** @constant */
            type: "attempt_failed";
        } | {
            /** @description As `GET …/calls/{call}` shows it. */
            call: components["schemas"]["Call"];
            /** @description What confirming would do. Absent once the call has started or is over. */
            confirmation?: components["schemas"]["Confirmation"] | null;
            /** @description As in `tool_start`; absent where the model gave none. */
            tool_id?: string | null;
            /** @constant */
            type: "tool_confirmation";
        } | {
            /** @description The call that it is about. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description Somebody who may decide: often the person who asked. */
            decided_by: components["schemas"]["Actor"];
            /** @description `confirmed` or `denied`. */
            decision: components["schemas"]["CallState"];
            /** @description Of a denial, where one was given: the assistant reads it. */
            reason?: string;
            /** @constant */
            type: "tool_decision";
        } | {
            /** @description Names it under `…/calls/{call}`. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description As in `tool_start`; absent where the model gave none. */
            tool_id?: string | null;
            /** @description All of its arguments. */
            tool_input: components["schemas"]["AnyObject"];
            /** @description The function that runs. */
            tool_name: string;
            /** @constant */
            type: "tool_execute";
        } | {
            /** @description The call that takes long. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description A sentence for people. */
            message: string;
            /** @description The function that runs. */
            tool_name: string;
            /** @constant */
            type: "tool_update";
        } | {
            /** @description The call that has ended. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description The call failed, was refused, or nobody knows what came of it. */
            is_error: boolean;
            /** @description The text that the model reads: the tool's answer, or why there is none. */
            result: string;
            /** @description As in `tool_start`; absent where the model gave none. */
            tool_id?: string | null;
            /** @description The function that was called. */
            tool_name: string;
            /** @constant */
            type: "tool_result";
        } | {
            /** @description The stop reason, as listed above. */
            stop_reason: string;
            /** @constant */
            type: "done";
        } | {
            /** @description Why, in a sentence for people. */
            error: string;
            /** @constant */
            type: "error";
        };
        /** @description A name that more than one cell leaves. */
        ClashReport: {
            /** @description The cells, in the order of the page. */
            cells: components["schemas"]["CellId"][];
            /** @description The name. */
            name: string;
        };
        /** @description A column of a table. */
        Column: {
            /** @description Its name, as it is: SQL may want it in quotes. */
            name: string;
            /** @description Whether it may hold NULL. */
            nullable: boolean;
            /** @description In the words of the database; at most 200 characters. Empty: SQLite has columns without a type. */
            type: string;
        };
        /** @description What a column holds. What makes no sense for its type, or takes too long, is absent. */
        ColumnSummary: {
            /** @description The column. */
            column: components["schemas"]["TableColumn"];
            /**
             * Format: uint64
             * @description How many different values there are.
             */
            distinct?: number | null;
            /** @description The largest value. */
            max?: components["schemas"]["AnyJson"] | null;
            /** @description The arithmetic mean. */
            mean?: components["schemas"]["AnyJson"] | null;
            /** @description The smallest value. */
            min?: components["schemas"]["AnyJson"] | null;
            /**
             * Format: uint64
             * @description Rows without a value.
             */
            missing: number;
            /** @description Below which a quarter, half and three quarters of the values lie. */
            quartiles?: components["schemas"]["AnyJson"][];
            /**
             * Format: uint64
             * @description Of the table.
             */
            rows: number;
            /** @description The standard deviation of a sample. */
            std?: components["schemas"]["AnyJson"] | null;
            /** @description The most frequent values, at most 5. */
            top?: components["schemas"]["ValueCount"][];
        };
        /** @description A command, named by the client that sends it; a repeat with the same id is applied once. */
        CommandId: string;
        /** @description What somebody said in a thread. */
        Comment: {
            /** @description Who posted it. */
            author: components["schemas"]["Actor"];
            /** @description Named by CommentPosted. */
            comment_id: components["schemas"]["CommentId"];
            /**
             * Format: uint64
             * @description When its author changed it last; absent: never. Milliseconds since 1970.
             */
            edited_at?: number | null;
            /** @description The accounts that it names, sorted. */
            mentions?: components["schemas"]["UserId"][];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            posted_at: number;
            /** @description Markdown. */
            text: string;
        };
        /** @description What somebody said in a thread. */
        CommentId: string;
        /** @description A cell, or a range of its text. */
        CommentPlace: {
            /**
             * Format: uint64
             * @description The notebook's version whose text the range is of; it moves with later edits. Absent: the text as the server has it.
             */
            base?: number | null;
            /** @description A live cell (`cell_deleted` for one in the trash). */
            cell_id: components["schemas"]["CellId"];
            /** @description `[start, end]` in the cell's source, in UTF-16 code units; of a new thread not empty. Absent: the whole cell. */
            range?: components["schemas"]["TextRange"] | null;
        };
        /** @description What a comment says. */
        CommentText: {
            /**
             * @description The accounts that it names, by id; at most 50. A mention gives nobody a right.
             * @default []
             */
            mentions?: components["schemas"]["UserId"][];
            /** @description Markdown, 1 to 10,000 characters. */
            text: string;
        };
        /** @description What differs between two runs. */
        Comparison: {
            /** @description The older one as asked for, without outputs. */
            left: components["schemas"]["Run"];
            /** @description From the left outputs' text to the right one's. */
            output_diff: string;
            /** @description The run that it is compared with, without outputs. */
            right: components["schemas"]["Run"];
            /** @description Whether both showed the same outputs, large parts compared by their hash; the execution count does not matter. */
            same_outputs: boolean;
            /** @description Whether both ran the same text, character by character. */
            same_source: boolean;
            /** @description Whether both ended alike (`ok`, `error`, `cancelled` …). */
            same_status: boolean;
            /** @description From the left source to the right one; empty when they are the same. */
            source_diff: string;
        };
        /** @description What could stand in place of a piece of the code. */
        Completion: {
            /**
             * Format: uint32
             * @description Where the piece begins that a match replaces, in UTF-16 code units of the code.
             */
            from: number;
            /** @description The kernel has more matches: they were left out. */
            is_cut?: boolean;
            /** @description In the kernel's order; at most 500. */
            matches: components["schemas"]["CompletionMatch"][];
            /**
             * Format: uint32
             * @description Where it ends.
             */
            to: number;
        };
        /** @description One text that could stand there. */
        CompletionMatch: {
            /** @description How it is called, as in `(a, b=1)`. */
            signature?: string | null;
            /** @description Replaces the piece. */
            text: string;
            /** @description What it is, in the kernel's words: `function`, `class`, `instance`, `module`, `keyword`, `param`, `path`, `magic` … */
            type?: string | null;
        };
        /** @description What confirming would do. */
        Confirmation: {
            /** @description In the order in which it would happen. */
            effects: components["schemas"]["Effect"][];
            /** @description The risk in words. */
            risk: string;
            /** @description What the tool does, in a few words. */
            summary: string;
            /** @description Why it would not happen any more: confirming closes the call. */
            void?: string | null;
        };
        /** @description What waits for your decision, in all notebooks that you may see. */
        Confirmations: {
            /** @description The longest waiting first; at most 500. */
            calls: components["schemas"]["WaitingCall"][];
            /** @description There are more than could be looked through: decide on some of these first. */
            is_cut?: boolean;
        };
        /**
         * @description The tables and views of a connection, with their columns. System schemas, the partitions of a table, and what the connection's
         *     account may not read are not among them.
         */
        ConnectionSchema: {
            /** @description `postgresql`, `sqlite` or `duckdb`. */
            kind: string;
            /** @description At most 1,000: first those that need no schema before their name. */
            tables: components["schemas"]["Table"][];
            /**
             * Format: uint64
             * @description How many more there are.
             */
            tables_left_out?: number;
        };
        /** @description A conversation. Its messages are a projection. */
        Conversation: {
            /** @description Messages that are pinned or skipped. */
            flagged?: {
                [key: string]: components["schemas"]["MessageFlags"];
            };
            /** @description It began with a call of an outside assistant, and nobody has spoken in it. */
            is_outside?: boolean;
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            started_at: number;
            /** @description The person who spoke first, or the assistant outside. */
            started_by: components["schemas"]["Actor"];
            /** @description What the first message begins with, or the name of the assistant outside. */
            title: string;
            /** @description The unfinished turn. */
            turn?: components["schemas"]["TurnId"] | null;
        };
        /** @description A conversation with an assistant. */
        ConversationId: string;
        /** @description The conversations of a notebook, without their messages. */
        Conversations: {
            /** @description By id: title, who started it and when, the unfinished turn. */
            conversations: {
                [key: string]: components["schemas"]["Conversation"];
            };
            /** @description The unfinished turns, by id. */
            turns: {
                [key: string]: components["schemas"]["Turn"];
            };
        };
        /** @description A group of commands that is undone as one: a typing burst, a turn, an import. */
        CorrelationId: string;
        /** @description The notebooks that a token is good for: those of one list, or of one workspace; without either, all. */
        Covers: {
            /** @description At most 500 ids. */
            notebooks?: components["schemas"]["NotebookId"][] | null;
            /** @description All notebooks that are in this workspace at the time of a request. */
            workspace?: components["schemas"]["WorkspaceId"] | null;
        };
        /** @description A link that was made, with its secret. */
        CreatedShareLink: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description Who shared the notebook. */
            created_by: components["schemas"]["UserId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: it holds until it is revoked.
             */
            expires_at?: number | null;
            /** @description The subject of its entry in the notebook's access list, and the actor of what its guests do. */
            id: components["schemas"]["ShareLinkId"];
            /** @description What others see instead of a guest's name; may be empty. */
            label: string;
            /** @description The only notebook that it opens. */
            notebook: components["schemas"]["NotebookId"];
            /** @description As granted when it was made; the notebook's access list has what it is now. */
            role: components["schemas"]["Role"];
            /** @description The same token, for programs. */
            token: string;
            /** @description The token stands behind `#`, which browsers send to no server. In this answer and never again. */
            url: string;
        };
        /** @description An account that was made, and how its person gets in. */
        CreatedUser: {
            /** @description Hand it to the person, who sends it to `POST /api/session` with a password. */
            invitation: components["schemas"]["OneTimeToken"];
            /** @description Without a password until the invitation is used. */
            user: components["schemas"]["User"];
        };
        /** @description The document of one notebook at one version. */
        Document: {
            /** @description Sorted by subject. */
            access: components["schemas"]["AccessEntry"][];
            /** @description True: it is read, exported and forked, and neither changed nor run. */
            archived?: boolean;
            /** @description The live ones. The trash is a projection of the log. */
            cells: {
                [key: string]: components["schemas"]["Cell"];
            };
            /** @description Without their messages, which are a projection of the log. */
            conversations?: {
                [key: string]: components["schemas"]["Conversation"];
            };
            /**
             * Format: uint64
             * @description When the first event was recorded. Milliseconds since 1970.
             * @default 0
             */
            created_at?: number;
            /** @description Latest and unfinished executions. */
            executions: {
                [key: string]: components["schemas"]["Execution"];
            };
            /** @description By name: what users have registered as tools, also of kernels that have ended. */
            functions?: {
                [key: string]: components["schemas"]["RegisteredFunction"];
            };
            /** @description Those that hold, or have expired unnoticed: `expires_at` counts. */
            grants?: {
                [key: string]: components["schemas"]["AssistantGrant"];
            };
            /** @description The last thing that went wrong with a kernel. Absent once one has started. */
            kernel_notice?: components["schemas"]["KernelNotice"] | null;
            /** @description The sessions that have not ended, or were not claimed yet. */
            kernels: {
                [key: string]: components["schemas"]["KernelSession"];
            };
            /** @description The latest execution of each live cell (the one whose outputs it shows). */
            latest: {
                [key: string]: components["schemas"]["ExecutionId"];
            };
            /** @description As in nbformat. */
            metadata: components["schemas"]["AnyObject"];
            /** @description Names given to versions. */
            named_versions?: {
                [key: string]: string;
            };
            /** @description Chosen by the client that made the notebook. */
            notebook_id: components["schemas"]["NotebookId"];
            /** @description Cell ids in the order of the page: by order key, then id. Derived from `cells`. */
            order: components["schemas"]["CellId"][];
            /** @description What assistants may do unasked. Left out where it is the default. */
            policy?: components["schemas"]["Policy"];
            /** @description Whether running a cell brings others up to date. Left out where it is `off`. */
            reactivity?: components["schemas"]["Reactivity"];
            /** @description Threads of comments, resolved ones too. One whose cell is in the trash comes back with it. */
            threads?: {
                [key: string]: components["schemas"]["Thread"];
            };
            /** @description 1 to 255 characters on one line; empty before the first event. */
            title: string;
            /** @description Tool calls that have not ended. */
            tool_calls?: {
                [key: string]: components["schemas"]["ToolCall"];
            };
            /** @description Turns that have not ended. */
            turns?: {
                [key: string]: components["schemas"]["Turn"];
            };
            /**
             * Format: uint64
             * @description When the last event was recorded. Milliseconds since 1970.
             * @default 0
             */
            updated_at?: number;
            /**
             * Format: uint64
             * @description Version of the last applied event; 0 before the notebook exists.
             */
            version: number;
        };
        /**
         * @description Where somebody comes in.
         *
         *     `page`: The notebook's page, or another one of an allowed origin.
         *
         *     `terminal`: The command line.
         *
         *     `rest`: A request of another program.
         *
         *     `socket`: A socket of another program.
         * @enum {string}
         */
        Door: "page" | "terminal" | "rest" | "socket";
        /** @description One thing that a call would do. */
        Effect: {
            /** @description Type of the new cell. */
            cell_type: components["schemas"]["CellType"];
            /** @constant */
            kind: "creates";
            /** @description All of its text. */
            source: string;
        } | {
            /** @description The cell; its id stays. */
            cell: components["schemas"]["CellId"];
            /** @description From what it says now to what it would say. Of texts above 1 MiB together only that they differ. */
            diff: string;
            /** @constant */
            kind: "changes";
        } | {
            /** @description The cell; it goes to the trash, from where it can be restored. */
            cell: components["schemas"]["CellId"];
            /** @description Whether outputs go with it. */
            has_outputs: boolean;
            /** @constant */
            kind: "deletes";
            /** @description What it says now. */
            source: string;
        } | {
            /** @description The cell; its text stays. */
            cell: components["schemas"]["CellId"];
            /** @constant */
            kind: "moves";
        } | {
            /** @description Absent: of a cell that the call makes. */
            cell?: components["schemas"]["CellId"] | null;
            /** @constant */
            kind: "runs";
            /** @description The code, as it would be sent to the kernel. */
            source: string;
        } | {
            /** @description The whole content, as text. */
            content: string;
            /** @constant */
            kind: "writes";
            /** @description As the tool was given it: relative paths begin where the kernel runs. */
            path: string;
            /** @description SHA-256 of the file that is lost. */
            replaces?: string | null;
        } | {
            /** @constant */
            kind: "does";
            /** @description A sentence for people, in English. */
            what: string;
        };
        /**
         * @description Why an execution ended without a result, or before its own end.
         *
         *     `requested`: Somebody cancelled it before it began.
         *     In words: somebody cancelled it.
         *
         *     `interrupted`: Somebody cancelled it while it ran, or interrupted its kernel.
         *     In words: it was interrupted.
         *
         *     `timed_out`: In words: its time was up.
         *
         *     `cell_deleted`: In words: its cell is in the trash.
         *
         *     `kernel_not_started`: In words: the kernel did not start.
         *
         *     `kernel_restarted`: In words: the kernel was restarted.
         *
         *     `kernel_shut_down`: In words: the kernel was shut down.
         *
         *     `kernel_died`: In words: the kernel died.
         *
         *     `agent_stopped`: In words: its runtime agent was stopped.
         *
         *     `agent_lost`: In words: its runtime agent is gone.
         *
         *     `given_up`: A person gave it up while its agent could not be reached.
         *     In words: somebody gave it up.
         * @enum {string}
         */
        EndCause: "requested" | "interrupted" | "timed_out" | "cell_deleted" | "kernel_not_started" | "kernel_restarted" | "kernel_shut_down" | "kernel_died" | "agent_stopped" | "agent_lost" | "given_up";
        /** @description A part of the record, oldest event first. */
        EventPage: {
            /** @description With everything that is hashed: see `protocol/README.md`, The record. */
            events: unknown[];
            /** @description The notebook's end now. */
            head: unknown;
            /**
             * Format: uint64
             * @description Ask again with this as `after`; absent when this is the end.
             */
            next?: number | null;
        };
        /** @description One execution: a record with its own id, the exact source it ran, its outputs, its end. */
        Execution: {
            /** @description The only agent that may write about it. */
            agent?: components["schemas"]["AgentId"] | null;
            /** @description The run before it that did not succeed. */
            blocked_by?: components["schemas"]["ExecutionId"] | null;
            /** @description Somebody wants it cancelled; its agent interrupts it. */
            cancel_requested?: boolean;
            /** @description Why it was requested. */
            cause: components["schemas"]["OpenExecutionCause"];
            /** @description `clear_output(wait=True)`: the next output replaces all. */
            clear_on_next_output?: boolean;
            /** @description Of its request: runs of one batch have the same. */
            correlation_id: components["schemas"]["CorrelationId"];
            /** @description Why it was cancelled or lost, or has no result of its own. */
            end_cause?: components["schemas"]["OpenEndCause"] | null;
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: it has not ended.
             */
            ended_at?: number | null;
            /**
             * Format: uint64
             * @description The number in `In [3]:`; absent where the kernel gave none.
             */
            execution_count?: number | null;
            /**
             * Format: uint64
             * @description Of the assignment: writes about the execution must carry it.
             */
            fence?: number | null;
            /** @description Where it runs, or is to. Absent: a file brought it, or it waits for a default kernel whose agent was away. */
            kernel_session?: components["schemas"]["KernelSessionId"] | null;
            /** @description A sentence about an odd end. */
            notice?: string | null;
            /**
             * Format: uint64
             * @description The highest write of the agent that is in the log.
             * @default 0
             */
            output_seq?: number;
            /** @description Those that are shown, in order. */
            outputs?: components["schemas"]["Output"][];
            /** @description The question that waits for an answer. */
            pending_input?: components["schemas"]["PendingInput"] | null;
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            requested_at: number;
            /** @description The person or assistant; of an imported run who imported it. */
            requested_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description Version of the request: the order of the queue.
             */
            requested_version: number;
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: the kernel has not begun.
             */
            started_at?: number | null;
            /** @description How it stands. */
            status: components["schemas"]["ExecutionStatus"];
            /** @description When it fails, runs of the same correlation that still wait are blocked. */
            stop_on_error?: boolean;
            /** @description What it runs, word for word. */
            subject: components["schemas"]["ExecutionSubject"];
            /**
             * Format: uint64
             * @description Its kernel is interrupted after so long; absent: never.
             */
            timeout_ms?: number | null;
        };
        /** @description Why something was executed. */
        ExecutionCause: "requested" | "imported" | "functions_restored" | {
            dependency: components["schemas"]["ExecutionCauseDependency"];
        };
        ExecutionCauseDependency: {
            /** @description The run that somebody asked for, planned at the same version. Absent: a cell was deleted. */
            of?: components["schemas"]["ExecutionId"] | null;
        };
        /** @description One execution of some source on a kernel. */
        ExecutionId: string;
        /**
         * @description How a run stands. The last five are its end.
         *
         *     `queued`: It waits for a kernel, or for the runs before it.
         *
         *     `assigned`: A kernel session has won it and not begun.
         *
         *     `running`: The kernel has begun with it.
         *
         *     `ok`: It ended without an error.
         *
         *     `error`: It failed, was interrupted while it ran, or took too long.
         *
         *     `cancelled`: It never began, or ended because somebody wanted it.
         *
         *     `blocked`: It never began, because one before it did not succeed.
         *
         *     `lost`: Nobody knows how it ended, or that it ended.
         * @enum {string}
         */
        ExecutionStatus: "queued" | "assigned" | "running" | "ok" | "error" | "cancelled" | "blocked" | "lost";
        /** @description What was executed, word for word. */
        ExecutionSubject: {
            /** @description The cell, which may be deleted meanwhile. */
            cell_id: components["schemas"]["CellId"];
            /**
             * Format: uint64
             * @description The `cell_version` that the source is of.
             */
            cell_version: number;
            /** @constant */
            kind: "cell";
            /** @description In full: this text runs, whatever the cell says later. */
            source: string;
        } | {
            /** @constant */
            kind: "scratch";
            /** @description What for, in a few words for people. */
            purpose: string;
            /** @description In full. */
            source: string;
        } | {
            /** @description The call under way. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description Of the code: an agent that has other code refuses to run it. */
            digest: components["schemas"]["Hash"];
            /** @constant */
            kind: "tool";
            /** @description Its name in the table of tools; `call_function` for functions of users. */
            tool: string;
        };
        /**
         * @description The form of an exported file.
         *
         *     `ipynb`: nbformat 4.5: the whole notebook.
         *
         *     `html`: One page that needs no other file and runs nothing.
         *
         *     `md`: Markdown with outputs.
         *
         *     `py`: Python in the percent format (`# %%`), without outputs.
         * @enum {string}
         */
        ExportFormat: "ipynb" | "html" | "md" | "py";
        /** @description Something in a folder. */
        FileEntry: {
            /** @description What it is. Of a link: what it leads to. */
            kind: components["schemas"]["FileKind"];
            /**
             * Format: uint64
             * @description When its content changed last, by the clock of that machine.
             */
            modified_at?: number | null;
            /** @description Its name, without the folder. */
            name: string;
            /**
             * Format: uint64
             * @description Of a file.
             */
            size_bytes?: number | null;
        };
        /**
         * @description What stands under a name.
         *
         *     `file`: It can be downloaded.
         *
         *     `folder`: It can be listed.
         *
         *     `other`: A device, a pipe, a link that leads out of the folder or nowhere, a name that is no text: out of reach.
         * @enum {string}
         */
        FileKind: "file" | "folder" | "other";
        /** @description What a folder holds, and whose it is. */
        FileList: {
            /** @description The runtime agent on whose machine the folder is. */
            agent: components["schemas"]["AgentId"];
            /** @description Its name, for people. */
            agent_name: string;
            /**
             * @description Files can be moved, and go to a trash: the runtime agent is new enough.
             * @default false
             */
            can_change?: boolean;
            /** @description By name. */
            files: components["schemas"]["FileEntry"][];
            /** @description The folder holds more than is looked through: what is beyond is not listed, but found by its name. */
            is_cut?: boolean;
            /**
             * Format: uint64
             * @description Largest file that is let through.
             */
            max_file_bytes: number;
            /** @description There is more: ask for what comes `after` this name. */
            next?: string | null;
            /** @description The folder, below the working folder; empty: that folder itself. */
            path: string;
        };
        /** @description What the trash of a folder holds, and whose it is. */
        FileTrash: {
            /** @description The runtime agent on whose machine the folder is. */
            agent: components["schemas"]["AgentId"];
            /** @description Its name, for people. */
            agent_name: string;
            /**
             * Format: uint32
             * @description Entries in all.
             */
            count: number;
            /** @description The last removed first. */
            files: components["schemas"]["TrashedFile"][];
            /**
             * Format: uint32
             * @description Entries are deleted for good after so long.
             */
            kept_days: number;
            /**
             * Format: uint64
             * @description The oldest are deleted for good when all are larger; the last one stays.
             */
            max_bytes: number;
            /**
             * Format: uint64
             * @description Of all entries.
             */
            size_bytes: number;
        };
        /** @description A new notebook made of what another is or was; you are its owner. Needs the right to read the other. */
        Fork: {
            /**
             * @description Of the new notebook.
             * @default null
             */
            id?: components["schemas"]["NotebookId"] | null;
            /**
             * @description Absent: the title of the old one, and "(fork)".
             * @default null
             */
            title?: string | null;
            /**
             * Format: uint64
             * @description Absent: as it is now.
             * @default null
             */
            version?: number | null;
            /**
             * @description Leave the outputs behind.
             * @default false
             */
            without_outputs?: boolean;
        };
        /** @description Somebody whom a search has found. */
        FoundPerson: {
            /** @description As in the actor of events. */
            id: components["schemas"]["UserId"];
            /** @description Unique. */
            login?: string | null;
            /** @description As the person chose it: not unique. */
            name: string;
        };
        /** @description Where the words of a search stand in a notebook. */
        FoundText: {
            /** @description The cell that holds most of them. */
            cell_id: components["schemas"]["CellId"];
            /** @description Where words stand in `text`: first and last character (exclusive), in Unicode code points. */
            marks: [
                number,
                number
            ][];
            /** @description The line, or the part of it around the first word: at most 160 characters. */
            text: string;
        };
        /** @description What a function is called with. */
        FunctionArguments: {
            /**
             * @description As its schema says.
             * @default {}
             */
            arguments?: components["schemas"]["AnyObject"];
            /**
             * @description A destructive function is called only if this is true.
             * @default false
             */
            confirmed?: boolean;
            /**
             * Format: uint64
             * @description The call is interrupted after so many milliseconds; absent: never.
             * @default null
             */
            timeout_ms?: number | null;
        };
        /** @description The functions of a notebook, by name. */
        Functions: {
            /** @description Those that can be called, and those that wait for a kernel. */
            functions: components["schemas"]["NotebookFunction"][];
        };
        /** @description Whether anybody is asked before a call starts, as it was judged when the call was requested. */
        Gate: {
            /** @constant */
            kind: "passes";
        } | {
            /** @constant */
            kind: "waits_for_person";
            /**
             * Format: uint64
             * @description Then it expires.
             */
            until: number;
        };
        /** @description A person's leave, given beforehand, for tool calls of a kind. */
        GrantId: string;
        /** @description The grants of a notebook that hold now. */
        Grants: {
            /** @description By id: conversation, functions (none: every function), `expires_at`, who issued it. */
            grants: {
                [key: string]: components["schemas"]["AssistantGrant"];
            };
        };
        /** @description What a guest is called: as the link says it, else as the guest said it. */
        Guest: {
            /** @description Of the link, as in the actor of events. */
            id: components["schemas"]["ShareLinkId"];
            /** @description Not unique. */
            name: string;
        };
        Hash: string;
        /** @description A sign-in with a provider that is linked to an account. */
        Identity: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description As the provider had verified it when it was linked; for people to read, nobody is found by it. */
            email?: string | null;
            /** @description Names it where it is unlinked. */
            id: string;
            /** @description The provider. */
            issuer: string;
            /** @description Who the person is there. */
            subject: string;
        };
        /** @description You begin to link a sign-in with the provider to your account. */
        IdentityBegin: {
            /** @description Your password, where you have one. */
            current?: string | null;
            /** @description As in signing in. */
            key: string;
        };
        /** @description The notebook that a file became; you are its owner. */
        ImportAnswer: {
            /** @description Its id: `id` of the query, else one that follows from `Idempotency-Key`, else a new one. */
            notebook: components["schemas"]["NotebookId"];
            /** @description What was repaired, converted or put aside, each with a code and a sentence. */
            notices: components["schemas"]["Notice"][];
            /** @description `cells` has the ids of the cells from top to bottom. */
            outcome: components["schemas"]["Outcome"];
            /** @description As asked for, else from the file's metadata or its name, else `Untitled`. */
            title: string;
            /**
             * Format: uint64
             * @description The new notebook's version: all of the file is in the log up to it.
             */
            version: number;
        };
        /** @description The answer to a question of running code, as Python's `input()` asks it. */
        InputValue: {
            /** @description Without the line break at its end; at most 64 KiB. Of a password the record keeps nothing. */
            value: string;
        };
        /** @description What a name is. */
        Inspection: {
            /** @description The description by MIME type: `text/plain` (with ANSI colours), `text/html`, `text/markdown`; each at most 64 KiB. */
            data?: {
                [key: string]: string;
            };
            /** @description False: the kernel knows nothing by that name. */
            found: boolean;
            /** @description The description was longer: its end was left out. */
            is_cut?: boolean;
        };
        /** @description One life of a server process: who holds a notebook's lease, and whose a claim is. */
        InstanceId: string;
        /** @description The grant that was issued. */
        IssuedGrant: {
            /** @description As asked for, or chosen by the server. Names it in `DELETE …/grants/{grant}`. */
            id: components["schemas"]["GrantId"];
            /**
             * Format: uint64
             * @description The notebook's version after it.
             */
            version: number;
        };
        /** @description A new token: its text is in this answer and never again. */
        IssuedToken: {
            /** @description Of an agent: who it is in events. */
            agent?: components["schemas"]["AgentId"] | null;
            /** @description The notebooks that it is good for. */
            covers: components["schemas"]["Covers"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description Who made it; they may revoke it. */
            created_by: components["schemas"]["UserId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: it holds until it is revoked.
             */
            expires_at?: number | null;
            /** @description Names it in `DELETE /api/tokens/{token}`. */
            id: components["schemas"]["TokenId"];
            /** @description `session`, `api` or `agent`. */
            kind: string;
            /** @description Up to 100 characters; may be empty. Of an agent: its name. */
            label: string;
            /**
             * Format: uint64
             * @description Up to ten minutes behind.
             */
            last_used_at?: number | null;
            /** @description What it may be used for, as asked for when it was made. */
            scopes: components["schemas"]["Scope"][];
            /** @description The secret, to be sent as `Authorization: Bearer <token>`. */
            token: string;
        };
        /**
         * @description Why a kernel session is over, or never began.
         *
         *     `shut_down`: As people asked.
         *     In words: it was shut down.
         *
         *     `restarted`: In words: it was restarted.
         *
         *     `idle`: It had no work for too long.
         *     In words: it had no work.
         *
         *     `died`: In words: the kernel died.
         *
         *     `agent_stopped`: In words: its runtime agent was stopped.
         *
         *     `agent_lost`: Killed, away for too long, or back without this kernel.
         *     In words: its runtime agent is gone.
         *
         *     `given_up`: A person did not wait for its agent, which could not be reached.
         *     In words: somebody gave it up.
         *
         *     `not_installed`: What the kernelspec names is not on the agent's machine.
         *     In words: the kernel is not installed.
         *
         *     `cannot_start`: The agent's machine does not let it start.
         *     In words: the kernel cannot be started.
         *
         *     `no_answer`: It started, and did not answer in time.
         *     In words: the kernel did not answer.
         * @enum {string}
         */
        KernelCause: "shut_down" | "restarted" | "idle" | "died" | "agent_stopped" | "agent_lost" | "given_up" | "not_installed" | "cannot_start" | "no_answer";
        /** @description The last thing that went wrong with a kernel, so that everybody sees the cause. Cleared by the next start. */
        KernelNotice: {
            /** @description Why it ended, or never began. */
            cause: components["schemas"]["OpenKernelCause"];
            /** @description More about it, in a sentence for people. */
            detail?: string | null;
            /** @description The session that it is about, which may have ended. */
            kernel_session: components["schemas"]["KernelSessionId"];
            /**
             * Format: uint64
             * @description Of the event that says so.
             */
            version: number;
        };
        /**
         * @description How far a session has come.
         *
         *     `requested`: Waits for an agent.
         *
         *     `claimed`: An agent is starting it.
         *
         *     `started`: It answers.
         *
         *     `ending`: It was asked to shut down or is being replaced by a restart.
         * @enum {string}
         */
        KernelPhase: "requested" | "claimed" | "started" | "ending";
        /** @description The kernels of a notebook, and those that it could have. */
        Kernels: {
            /** @description Databases that their SQL cells can name. */
            connections?: components["schemas"]["OfferedConnection"][];
            /** @description By session: kernelspec, phase, agent. */
            kernels: {
                [key: string]: components["schemas"]["KernelSession"];
            };
            /** @description What the connected runtime agents can launch for this notebook. */
            kernelspecs: components["schemas"]["OfferedKernelspec"][];
            /** @description The last thing that went wrong. */
            notice?: components["schemas"]["KernelNotice"] | null;
            /** @description Whether each can be reached and is busy. */
            status: components["schemas"]["KernelStatus"][];
        };
        /** @description One life of a kernel. */
        KernelSession: {
            /** @description The runtime agent that has claimed it. Absent: none has. */
            agent?: components["schemas"]["AgentId"] | null;
            /**
             * Format: uint64
             * @description Version of `KernelSessionStarted`; every write about the session carries it.
             */
            fence?: number | null;
            /** @description The kernelspec's name, as in `python3`. */
            kernelspec: string;
            /** @description As the kernel's `kernel_info_reply` has it; left out until it has started. */
            language_info?: components["schemas"]["AnyObject"];
            /** @description Code runs in phase `started` alone. */
            phase: components["schemas"]["KernelPhase"];
            /**
             * Format: uint64
             * @description Version of the launch request, kept over restarts: the lowest is the default kernel.
             */
            requested_version: number;
            /** @description As `KernelSessionStarted` says. */
            sandbox?: components["schemas"]["AnyObject"];
        };
        /** @description One life of a kernel, from launch to end. A restart begins a new session. */
        KernelSessionId: string;
        /** @description What is known of a kernel beside the log. */
        KernelStatus: {
            /** @description What its runtime agent is called, for people to read. Absent: it has not been here since the server loaded the notebook. */
            agent_name?: string | null;
            /** @description Its agent says that it is executing. False while it cannot be reached. */
            busy: boolean;
            /** @description The session, as in the state's `kernels`. */
            kernel_session: components["schemas"]["KernelSessionId"];
            /** @description False: its runtime agent has not been heard of for some seconds. */
            reachable: boolean;
            /**
             * Format: uint64
             * @description Where it cannot be reached: since when, in milliseconds since 1970.
             */
            unreachable_since?: number | null;
            /** @description What it takes of its machine, a few seconds ago. Absent: not measured, or it cannot be reached. */
            usage?: components["schemas"]["KernelUsage"] | null;
        };
        /** @description What a kernel takes of its machine. */
        KernelUsage: {
            /**
             * Format: uint32
             * @description Of one processor, in percent: 200 is two of them, all the time. Absent: it was measured once so far.
             */
            cpu_percent?: number | null;
            /**
             * Format: uint64
             * @description Resident memory, in bytes.
             */
            memory_bytes: number;
        };
        /** @description Launches a kernel. A runtime agent that offers the kernelspec claims it. */
        Launch: {
            /**
             * @description Absent: the notebook's own, else `python3`.
             * @default null
             */
            kernelspec?: string | null;
        };
        /** @description Another cell, and through which names they hang together. */
        LinkReport: {
            /** @description The other cell. */
            cell_id: components["schemas"]["CellId"];
            /** @description One or more. Of a cell that may leave any name (`from m import *`): those that are looked for there. */
            names: string[];
        };
        /**
         * @description The order of the list.
         *
         *     `changed`: The last changed first.
         *
         *     `title`: By title, whatever the case.
         *
         *     `created`: The newest first.
         * @enum {string}
         */
        ListOrder: "changed" | "title" | "created";
        /** @description Who the holder of the token is, and what the token allows. */
        Me: {
            /** @description As in the events that you cause. */
            actor: components["schemas"]["Actor"];
            /**
             * @description The scopes `confirm`, `manage` and `admin` are withheld from what can be kept on a disk: `POST /api/session` with `fresh` gives
             *     a session of 15 minutes that has them.
             */
            asks_again?: boolean;
            /** @description The notebooks that it reaches. */
            covers: components["schemas"]["Covers"];
            /**
             * Format: uint64
             * @description When the token ends. Milliseconds since 1970; absent: when it is revoked.
             */
            expires_at?: number | null;
            /** @description `session`, `api`, `agent` or `share`. */
            kind: string;
            /** @description Of the person or agent; of a guest the link's label. */
            name: string;
            /** @description What the token is good for now: its own scopes, as far as the account still holds them. */
            scopes: components["schemas"]["Scope"][];
            /** @description Names this token in `DELETE /api/tokens/{token}`; it is no secret. */
            token_id: components["schemas"]["TokenId"];
            /** @description Absent for agents and guests. */
            user?: components["schemas"]["User"] | null;
            /** @description Those that you are a member of. */
            workspaces: components["schemas"]["MyWorkspace"][];
        };
        /** @description How a person decided, as the server saw it. Later versions may add fields. */
        Means: {
            /** @description The kind of what was shown there: `session`, `api`, `share` … */
            credential: string;
            /** @description Through which door, as the program presented itself. */
            door: components["schemas"]["OpenDoor"];
            /** @description What its owner calls that session or token. */
            label?: string;
        };
        /** @description Somebody in a workspace. */
        Member: {
            /** @description In each of the workspace's notebooks, beside what a notebook's own list grants. */
            role: components["schemas"]["Role"];
            /** @description The person; `GET /api/people/{user}` has the name. */
            user: components["schemas"]["UserId"];
        };
        /** @description Makes somebody a member, or changes what they are. For owners of the workspace. */
        MemberRole: {
            /** @description `viewer`, `commenter`, `runner`, `author`, `editor` or `owner`, in each of the workspace's notebooks. */
            role: components["schemas"]["Role"];
        };
        /** @description What a person, an assistant or tools said. */
        Message: {
            /** @description Texts, calls of tools and their results, with all that the record has at another place. */
            blocks: components["schemas"]["OpenMessageBlock"][];
            /** @description Names it in `PUT …/messages/{message}/flags`. */
            id: components["schemas"]["MessageId"];
            /** @description The beginning of an answer whose turn ended while it was written. */
            is_partial?: boolean;
            /** @description Always in the assistant's context. */
            pinned: boolean;
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            posted_at: number;
            /** @description Of a person's message the person; of the others the assistant. */
            posted_by: components["schemas"]["Actor"];
            /** @description `user`, `assistant` or `tool`. */
            role: components["schemas"]["OpenMessageRole"];
            /** @description Never in the assistant's context. */
            skipped: boolean;
            /** @description The turn that it belongs to. */
            turn_id?: components["schemas"]["TurnId"] | null;
            /**
             * Format: uint64
             * @description The version of its MessagePosted event: `before` of the next page.
             */
            version: number;
        };
        /** @description A part of a message. Externally tagged: serde cannot read raw JSON out of an internally tagged enum. */
        MessageBlock: {
            text: components["schemas"]["MessageBlockText"];
        } | {
            opaque: components["schemas"]["MessageBlockOpaque"];
        } | {
            tool_call: components["schemas"]["MessageBlockToolCall"];
        } | {
            tool_result: components["schemas"]["MessageBlockToolResult"];
        } | {
            attachment: components["schemas"]["Attachment"];
        };
        MessageBlockOpaque: {
            /** @description As the provider sent it. */
            data: components["schemas"]["AnyJson"];
            /** @description The provider whose it is: others are not sent it. */
            provider: string;
        };
        MessageBlockText: {
            /** @description Markdown. */
            text: string;
        };
        MessageBlockToolCall: {
            /**
             * @description As the model wrote them; not always JSON. ToolCallRequested has them once more: this message is recorded before its
             *     calls are requested one after the other, and a server that dies in between must not lose what the model wrote.
             */
            arguments: string;
            /** @description As in ToolCallRequested. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description What else the provider attached and wants back word for word. */
            extra?: string | null;
            /** @description The tool that is called. */
            function: string;
            /** @description The model's own name for the call; its result carries it too. */
            provider_id: string;
        };
        MessageBlockToolResult: {
            /** @description As in ToolCallRequested. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description The call failed, was refused, or nobody knows what came of it. */
            is_error?: boolean;
            /** @description As in the call. */
            provider_id: string;
            /** @description Absent: it is the `result` of the ToolCallExecuted of that call, word for word. */
            text?: string | null;
        };
        /** @description Marks on a message that say whether it is in the assistant's context. */
        MessageFlags: {
            /** @description Always. */
            pinned?: boolean;
            /** @description Never. */
            skipped?: boolean;
        };
        /** @description What a person or an assistant said in a conversation. */
        MessageId: string;
        /** @description Messages of one conversation, the last posted first. */
        MessagePage: {
            /** @description At most `limit` of them. */
            messages: components["schemas"]["Message"][];
            /**
             * Format: uint64
             * @description Ask again with this as `before`; absent when there are no older ones.
             */
            next?: number | null;
        };
        /**
         * @description Who said something.
         *
         *     `user`: A person.
         *
         *     `assistant`: The model, tools that it calls included.
         *
         *     `tool`: What tools answered.
         * @enum {string}
         */
        MessageRole: "user" | "assistant" | "tool";
        /** @description A provider that this server was set up with. */
        Model: {
            /** @description The model of it that is asked where nobody names another. */
            model: string;
            /** @description Its name, as calls are recorded under it. */
            provider: string;
        };
        /** @description The models that assistants of this server ask. */
        Models: {
            /** @description The first is asked where nobody names one. Empty: nobody answers here. */
            models: components["schemas"]["Model"][];
        };
        /** @description A file, folder or link that has another name or place. */
        MovedFile: {
            /** @description Where it was, below the working folder. */
            from: string;
            /** @description What it is. */
            kind: components["schemas"]["FileKind"];
            /** @description Where it is. */
            path: string;
        };
        /** @description Another name or place for a file or folder. */
        MoveFile: {
            /** @description Below the working folder. */
            from: string;
            /** @description The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's. */
            kernel?: components["schemas"]["KernelSessionId"] | null;
            /** @description Below the working folder, with the new name. Folders on the way are made; what exists is never replaced (`file_exists`). */
            to: string;
        };
        /** @description A workspace that you are in. */
        MyWorkspace: {
            /** @description Its name stands in `GET /api/workspaces`. */
            id: components["schemas"]["WorkspaceId"];
            /** @description What you are in each of its notebooks. */
            role: components["schemas"]["Role"];
        };
        /** @description A token to be made for a runtime agent. */
        NewAgent: {
            /**
             * @description Notebooks that you may share, or a workspace that you own. Without either, every notebook of the server, which
             *     only an administrator can give.
             * @default {}
             */
            covers?: components["schemas"]["Covers"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: until it is revoked.
             */
            expires_at?: number | null;
            /** @description What people see in the list of agents, as in "GPU machine". */
            name: string;
        };
        /** @description A token to be made for a program that acts for you. Only a session makes one; you have at most 500. */
        NewApiToken: {
            /**
             * @description Absent: all notebooks that you may see.
             * @default {}
             */
            covers?: components["schemas"]["Covers"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: until it is revoked.
             */
            expires_at?: number | null;
            /**
             * @description For you to know it by.
             * @default
             */
            label?: string;
            /**
             * @description Of `read`, `edit`, `run`, `confirm`, `manage`, `admin`; `read` always. `confirm` lets a program decide on tool
             *     calls in your name.
             */
            scopes: components["schemas"]["Scope"][];
        };
        /** @description A cell to be inserted. Needs the right to edit. */
        NewCell: {
            /** @description File name to MIME bundle, as in nbformat; at most 16 MiB. */
            attachments?: components["schemas"]["AnyObject"] | null;
            /** @description Chosen by you, or by the server. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description `code`, `markdown`, `raw`, `sql` or `prompt`. */
            cell_type: components["schemas"]["CellType"];
            /**
             * @description What is set besides: pinned, skipped, hidden source, hidden outputs. Absent: none.
             * @default {}
             */
            flags?: components["schemas"]["CellFlagChanges"];
            /**
             * @description As in nbformat; at most 1 MiB.
             * @default {}
             */
            metadata?: components["schemas"]["AnyObject"];
            /** @description `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`; absent: at the end. */
            place?: components["schemas"]["Place"] | null;
            /**
             * @description At most 1 MiB. Lines end with `\n`; a `\r` is refused.
             * @default
             */
            source?: string;
        };
        /** @description Marks a message. Needs the right to edit. */
        NewFlags: {
            /** @description Always in the assistant's context. Absent: as it is. */
            pinned?: boolean | null;
            /** @description Never in the assistant's context. Absent: as it is. Not both. */
            skipped?: boolean | null;
        };
        /** @description Lets the calls of one conversation pass that would wait for a person, for a time. Never those that are destructive. */
        NewGrant: {
            /** @description The only conversation that it is for, and in it the calls for the person whom the assistant serves now. */
            conversation: components["schemas"]["ConversationId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970, within seven days.
             */
            expires_at: number;
            /**
             * @description Empty: every function but those that destroy.
             * @default []
             */
            functions?: string[];
            /** @description Chosen by you; absent: a new one. */
            id?: components["schemas"]["GrantId"] | null;
        };
        /** @description A notebook to be made; you are its owner. */
        NewNotebook: {
            /** @description Chosen by you, so that a repeat is the same creation; absent: from `Idempotency-Key`, else new. */
            id?: components["schemas"]["NotebookId"] | null;
            /**
             * @description As in nbformat, for instance `{"kernelspec": {"name": "python3", "display_name": "Python 3"}}`.
             * @default {}
             */
            metadata?: components["schemas"]["AnyObject"];
            /** @description Made of a template, which brings its own metadata and cells: leave `metadata` and `with_cell` out. */
            template?: components["schemas"]["TemplateChoice"] | null;
            /** @description 1 to 255 characters on one line; need not be unique. Blanks around it are cut off. */
            title: string;
            /**
             * @description With one empty code cell.
             * @default false
             */
            with_cell?: boolean;
        };
        /** @description Hands a notebook over. Needs the right to share. */
        NewOwner: {
            /** @description Gets the role `owner`, and you become an editor; other owners keep theirs. */
            user: components["schemas"]["UserId"];
        };
        /** @description A link to be made. Needs the right to share. A notebook has at most 500. */
        NewShareLink: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: until it is revoked.
             */
            expires_at?: number | null;
            /**
             * @description What others see instead of a name, as in "Reviewer".
             * @default
             */
            label?: string;
            /** @description `viewer`, `commenter`, `runner`, `author` or `editor`. */
            role: components["schemas"]["Role"];
        };
        /** @description A comment that begins a thread on a cell. */
        NewThread: {
            /**
             * Format: uint64
             * @description The notebook's version whose text the range is of; absent: the text as it is.
             */
            base?: number | null;
            /**
             * @description The accounts that it names, by id; at most 50. A mention gives nobody a right.
             * @default []
             */
            mentions?: components["schemas"]["UserId"][];
            /** @description `[start, end]` in the cell's source, in UTF-16 code units, not empty; absent: the whole cell. */
            range?: components["schemas"]["TextRange"] | null;
            /** @description Markdown, 1 to 10,000 characters. */
            text: string;
        };
        /** @description An account to be made, without a password: the person chooses it. For administrators. */
        NewUser: {
            /**
             * @description May hold the scope `admin`: accounts, tokens and workspaces of the whole server.
             * @default false
             */
            is_admin?: boolean;
            /** @description 1 to 100 characters without spaces, unique; kept in lower case. */
            login: string;
            /** @description 1 to 100 characters on one line, not unique. */
            name: string;
        };
        /** @description A notebook's state, as `protocol/schema/notebook.json` has it. */
        NotebookAnswer: {
            /** @description The end of the record: at `version`, or after it where the notebook is `read_only`. Absent for the past. */
            head?: unknown;
            /** @description Whether each kernel can be reached and is busy. Empty for the past. */
            kernels?: components["schemas"]["KernelStatus"][];
            /** @description The state: as over the socket, `schema/notebook.json`. */
            notebook: components["schemas"]["Document"];
            /**
             * @description True: a newer server has written this notebook. It is shown as it was before the first event that this one does not
             *     know, and takes no commands.
             */
            read_only?: boolean;
            /** @description Yours, now. */
            role: components["schemas"]["Role"];
            /**
             * Format: uint64
             * @description The version of `notebook`: the value of `If-Match` for a command that must meet just this.
             */
            version: number;
        };
        /** @description What is to change about a notebook as a whole. Needs the right to edit. */
        NotebookChange: {
            /** @description The whole metadata, as in nbformat. */
            metadata?: components["schemas"]["AnyObject"] | null;
            /** @description 1 to 255 characters on one line; absent: as it is. */
            title?: string | null;
        };
        /** @description A function that somebody has registered in a kernel. */
        NotebookFunction: {
            /** @description A cell that defines it, to go by its text. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description What it does, for people and models. */
            description: string;
            /** @description The kernel that has it. Absent: it ended. */
            kernel_session?: components["schemas"]["KernelSessionId"] | null;
            /** @description By which it is called. */
            name: string;
            /** @description Why it cannot be called now, and what to do. Absent: it can. */
            problem?: string | null;
            /** @description What a call can do at worst; a destructive one is called by who says that it is meant. */
            risk: components["schemas"]["OpenRisk"];
            /** @description JSON Schema of its arguments, of type object. */
            schema: components["schemas"]["AnyObject"];
            /** @description Of this very definition; it changes when the function does. */
            version: string;
        };
        /** @description How the cells of a notebook hang together. */
        NotebookGraph: {
            /** @description In the order of the page. */
            cells: components["schemas"]["CellReport"][];
            /** @description Names that several cells leave, but for what all of them import. */
            defined_twice?: components["schemas"]["ClashReport"][];
            /** @description Whether runs follow it. */
            reactivity: components["schemas"]["Reactivity"];
            /**
             * Format: uint64
             * @description Of the notebook of which it tells.
             */
            version: number;
        };
        /** @description A notebook. New ones are named by the client, so that a repeated creation is the same creation. */
        NotebookId: string;
        /** @description A notebook in a list. */
        NotebookLine: {
            /** @description True: it can be read, exported and forked, and nothing else. */
            archived: boolean;
            /**
             * Format: uint64
             * @description How many it has, archived notebooks included.
             */
            cells: number;
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description Where it was asked for with `snippets`, and the words stand in a source. */
            found?: components["schemas"]["FoundText"] | null;
            /** @description Names it in every path. */
            id: components["schemas"]["NotebookId"];
            /** @description Others may be made of it (`GET /api/templates`). */
            is_template?: boolean;
            /** @description Where it was asked for with `live`, and the notebook is open on this server. */
            now?: components["schemas"]["NotebookNow"] | null;
            /**
             * @description The people who own it; `GET /api/people/{user}` has their names.
             * @default []
             */
            owners?: components["schemas"]["UserId"][];
            /** @description 1 to 255 characters on one line; not unique. */
            title: string;
            /**
             * Format: uint64
             * @description When the last event was recorded. Milliseconds since 1970.
             */
            updated_at: number;
            /**
             * Format: uint64
             * @description The last version that the list knows. It has all that you have changed, and may lag behind what others do by a moment.
             */
            version: number;
            /** @description The workspace that it is in, whose members have their role in it. */
            workspace?: components["schemas"]["WorkspaceId"] | null;
        };
        /** @description What happens in a notebook this moment. Nothing of it is recorded. */
        NotebookNow: {
            /** @description People and guests who have it open, you among them: each once, at most 20. */
            people: components["schemas"]["PersonHere"][];
            /**
             * Format: uint64
             * @description Runs that wait for a kernel, or for those before them.
             */
            queued: number;
            /**
             * Format: uint64
             * @description Runs that a kernel has begun.
             */
            running: number;
        };
        /** @description Notebooks, the last changed first. */
        NotebookPage: {
            /** @description Ask again with this as `cursor`; absent on the last page. */
            next?: string | null;
            /** @description At most `limit` of them. */
            notebooks: components["schemas"]["NotebookLine"][];
        };
        /** @description One thing that the import changed, however often it occurred. */
        Notice: {
            /**
             * Format: uint
             * @description Index of the first cell that it is about; absent when it is about the notebook.
             */
            cell?: number | null;
            /** @description Stable, for programs. */
            code: components["schemas"]["NoticeCode"];
            /**
             * Format: uint
             * @description How often.
             */
            count: number;
            /** @description For people: what was changed, and a short extract where it helps. */
            message: string;
        };
        /**
         * @description What kind of repair or conversion a [`Notice`] tells of.
         *
         *     `byte_order_mark`: U+FEFF stood before the JSON, as Windows editors write it.
         *
         *     `lone_surrogate`: A string held half of a surrogate pair, which UTF-8 cannot carry.
         *
         *     `not_finite`: A number was NaN or infinite, as Python writes it.
         *
         *     `duplicate_key`: An object had a key twice.
         *
         *     `version_guessed`: `nbformat` was missing or no whole number.
         *
         *     `newer_minor`: `nbformat_minor` is above 5.
         *
         *     `upgraded`: `nbformat` was 1, 2 or 3.
         *
         *     `worksheets_flattened`: A file of nbformat 3 or older had several worksheets.
         *
         *     `notebook_metadata`: The notebook's `metadata` was missing or no object.
         *
         *     `unknown_notebook_key`: A top-level key is none of nbformat 4's; an export writes it back.
         *
         *     `kernelspec_completed`: `kernelspec` or `language_info` lacked a name that nbformat requires.
         *
         *     `cell_not_an_object`: An entry of `cells` was no object; it is kept in the cell's metadata.
         *
         *     `cell_type`: A cell type that is not one of ours was converted, as the notice says: `heading` became Markdown, for example.
         *
         *     `cell_id`: An id was missing, was not of 1 to 64 characters `A-Z a-z 0-9 - _`, or taken.
         *
         *     `cell_metadata`: A cell's `metadata` was missing or no object.
         *
         *     `unknown_cell_key`: A key that nbformat does not know in a cell of this type; an export writes it back.
         *
         *     `source`: A cell's `source` was missing, or neither a string nor a list of strings.
         *
         *     `line_endings`: A source had other line breaks than `\n`.
         *
         *     `attachments`: A cell's `attachments` were no object; an export writes them back.
         *
         *     `execution_count`: An `execution_count` was no whole number.
         *
         *     `outputs_missing`: A code cell had no `outputs`.
         *
         *     `output_not_an_object`: An entry of `outputs` was no object.
         *
         *     `output_completed`: An output lacked a field that nbformat requires.
         *
         *     `output_upgraded`: An output had the shape of nbformat 3: `pyout`, `pyerr`, or fields instead of a MIME bundle.
         *
         *     `unknown_output`: An output has a type or a part that nbformat 4.5 does not allow; it is kept as it is.
         *
         *     `empty_field_dropped`: A field that its cell or output must not have, and that held nothing.
         *
         *     `stale_aside`: An earlier export had put something aside for content that has changed since.
         * @enum {string}
         */
        NoticeCode: "byte_order_mark" | "lone_surrogate" | "not_finite" | "duplicate_key" | "version_guessed" | "newer_minor" | "upgraded" | "worksheets_flattened" | "notebook_metadata" | "unknown_notebook_key" | "kernelspec_completed" | "cell_not_an_object" | "cell_type" | "cell_id" | "cell_metadata" | "unknown_cell_key" | "source" | "line_endings" | "attachments" | "execution_count" | "outputs_missing" | "output_not_an_object" | "output_completed" | "output_upgraded" | "unknown_output" | "empty_field_dropped" | "stale_aside";
        /** @description A connection to a database that the operator of a runtime agent has named: what people and programs may know of it. */
        OfferedConnection: {
            /** @description `postgresql`, `sqlite` or `duckdb`. */
            kind: string;
            /** @description As an SQL cell names it in its first line: `-- @warehouse`. */
            name: string;
            /** @description Whether a cell that says `write` may write. */
            writes?: boolean;
        };
        /** @description A kernel that a runtime agent can launch, as Jupyter describes it. */
        OfferedKernelspec: {
            /** @description For people, as in `Python 3 (ipykernel)`. */
            display_name: string;
            /** @description Of the code, as in `python`. */
            language: string;
            /** @description The kernelspec's directory name, as in `python3`: what `LaunchKernel` names. */
            name: string;
        };
        /** @description A browser begins to sign in with the provider. */
        OidcBegin: {
            /**
             * @description To prove once more who you are, for a session of 15 minutes as in signing in with `fresh`: the provider asks anew, and no key is
             *     bound to that session.
             * @default false
             */
            fresh?: boolean;
            /** @description As in signing in: the session will be bound to it, and the same browser must finish. */
            key: string;
        };
        /** @description Where the browser goes now. */
        OidcBegun: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970: ten minutes from now.
             */
            expires_at: number;
            /** @description Comes back with the browser, in the query of `/oidc/callback`: keep the key under it until then. */
            state: string;
            /** @description Of the provider; to be navigated to. */
            url: string;
        };
        /** @description The browser is back from the provider, with what stands in the query of `/oidc/callback`. */
        OidcFinish: {
            /** @description Of the provider. */
            code: string;
            /**
             * @description As it began.
             * @default false
             */
            fresh?: boolean;
            /** @description The public point that it was begun with. */
            key: string;
            /**
             * @description For the list of your sessions, as in "laptop".
             * @default
             */
            label?: string;
            /** @description ECDSA with SHA-256 of the text `notarium-oidc\n<state>\n<code>`, 64 bytes in base64url without padding. */
            signature: string;
            /** @description As it began. Good once. */
            state: string;
        };
        /** @description A provider of OpenID Connect. */
        OidcOption: {
            /** @description For the button, as in "Example University". */
            name: string;
            /** @description Where the page must be open, as in `https://notes.example.org`: the provider sends the browser back to there. */
            origin: string;
        };
        /** @description A one-time token that is asked about. It stays good. */
        OneTimeQuestion: {
            /** @description Its secret, as in `POST /api/session`. */
            token: string;
        };
        /** @description A token to hand to a person, who sends it once to `POST /api/session`. */
        OneTimeToken: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: it holds until it is used.
             */
            expires_at?: number | null;
            /** @description The secret. Good for one use. */
            token: string;
        };
        /** @description What a one-time token is good for, and what `POST /api/session` needs beside it. */
        OneTimeUse: {
            /** @description `owner` (the first sign-in of a server), `reset` (an invitation, or a new password) or `link` (opens a browser). */
            kind: string;
            /** @description The person's login, where there is one. */
            login?: string | null;
            /** @description What the person is called; absent for a link. */
            name?: string | null;
            /** @description Send `name` and `login`, which the person chooses. */
            needs_login: boolean;
            /** @description Send `password`, which the person chooses. */
            needs_password: boolean;
        };
        /** @description A later version may add variants: keep what you do not know. */
        OpenDoor: components["schemas"]["Door"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenEndCause: components["schemas"]["EndCause"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenExecutionCause: components["schemas"]["ExecutionCause"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenGate: components["schemas"]["Gate"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenKernelCause: components["schemas"]["KernelCause"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenMessageBlock: components["schemas"]["MessageBlock"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenMessageRole: components["schemas"]["MessageRole"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenPassed: components["schemas"]["Passed"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenReplyStatus: components["schemas"]["ReplyStatus"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenRisk: components["schemas"]["Risk"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenStopReason: components["schemas"]["StopReason"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenTarget: components["schemas"]["Target"] | (string | Record<string, unknown>);
        /** @description A later version may add variants: keep what you do not know. */
        OpenTurnFailure: components["schemas"]["TurnFailure"] | (string | Record<string, unknown>);
        /** @description ASCII text that compares byte by byte. Chosen by the server in `decide`; ties are broken by cell id. */
        OrderKey: string;
        /** @description What the sender learns with the ack: ids that the server chose, and what could not be done in full. */
        Outcome: {
            /** @description Cells that the command made or restored, in the order of its parts. */
            cells?: components["schemas"]["CellId"][];
            /** @description The comment that it posted. */
            comment?: components["schemas"]["CommentId"] | null;
            /** @description The runs that it requested, in the order of its parts. */
            executions?: components["schemas"]["ExecutionId"][];
            /** @description The session that it launched, or in which its run is queued. */
            kernel_session?: components["schemas"]["KernelSessionId"] | null;
            /** @description Sentences for people: parts of an undo that others had overwritten, and the like. */
            notices?: string[];
            /** @description The thread that it began or replied in. */
            thread?: components["schemas"]["ThreadId"] | null;
            /** @description The tool call that it requested or decided on. */
            tool_call?: components["schemas"]["ToolCallId"] | null;
            /** @description The turn that it started. */
            turn?: components["schemas"]["TurnId"] | null;
        };
        /** @description One output, as nbformat has it, opaque. */
        Output: {
            /** @description What is missing in `content`; a part above 8 KiB is kept as a blob. */
            blobs?: components["schemas"]["BlobPart"][];
            /** @description An nbformat 4 output object (`output_type` …) without the parts that are in `blobs`. */
            content: components["schemas"]["AnyJson"];
            /** @description Of `display_data` that may be updated later. */
            display_id?: string | null;
        };
        /** @description A notebook that somebody owns, as an administrator is told who cannot read it. */
        OwnedNotebook: {
            /** @description Whether it is archived. */
            archived: boolean;
            /** @description Names it in `POST /api/notebooks/{notebook}/take-over`. */
            id: components["schemas"]["NotebookId"];
            /** @description 1 to 255 characters on one line; not unique. */
            title: string;
        };
        /** @description Notebooks that somebody owns. */
        OwnedPage: {
            /** @description Ask again with this as `cursor`; absent on the last page. */
            next?: string | null;
            /** @description Of the notebooks in whose access lists the person stands, those that the person owns: a page may be empty, and not the last. */
            notebooks: components["schemas"]["OwnedNotebook"][];
        };
        /** @description What let a call through. */
        Passed: {
            /** @constant */
            kind: "policy";
        } | {
            /** @description Named by GrantIssued. */
            grant_id: components["schemas"]["GrantId"];
            /** @constant */
            kind: "grant";
        } | {
            /** @description Who. */
            by: components["schemas"]["Actor"];
            /** @constant */
            kind: "confirmation";
        };
        /** @description Another password. Ends all of your other sessions. */
        PasswordChange: {
            /** @description Needed where there is one. */
            current?: string | null;
            /** @description At least 10 characters. */
            password: string;
        };
        /** @description A question that waits for an answer on stdin. */
        PendingInput: {
            /** @description The answer is to be hidden while it is typed, and does not enter the log. */
            password: boolean;
            /** @description What the code asks, as it is to be shown. */
            prompt: string;
        };
        /** @description What everybody with an account may know of somebody whose id or login they have. */
        Person: {
            /** @description As in the actor of events, where names do not stand. */
            id: components["schemas"]["UserId"];
            /** @description As the person chose it: not unique, and it may change. */
            name: string;
        };
        /** @description Somebody who has a notebook open. */
        PersonHere: {
            /** @description A person or a guest. */
            actor: components["schemas"]["Actor"];
            /** @description For people to read. */
            name: string;
        };
        /** @description Where a cell goes. */
        Place: "start" | "end" | {
            before: components["schemas"]["CellId"];
        } | {
            after: components["schemas"]["CellId"];
        };
        /** @description Puts a notebook into a workspace, so that its members have their role in it. Needs the right to share. */
        Placement: {
            /** @description Null: in none. */
            workspace?: components["schemas"]["WorkspaceId"] | null;
        };
        /**
         * @description How much an assistant may do unasked in a notebook. What destroys asks under every policy.
         *
         *     `guarded`: Reading, editing and running harmless code pass.
         *
         *     `ask_for_every_edit`: Only reading passes.
         *
         *     `trusted`: All passes that destroys nothing.
         * @enum {string}
         */
        Policy: "guarded" | "ask_for_every_edit" | "trusted";
        /** @description What assistants may do unasked in a notebook. */
        PolicyOf: {
            /**
             * @description `guarded` (reading, editing and running harmless code pass), `ask_for_every_edit` (only reading passes) or
             *     `trusted` (all passes that destroys nothing). What destroys asks under every policy.
             */
            policy: components["schemas"]["Policy"];
        };
        /** @description A refusal or a fault, as `application/problem+json` (RFC 9457). */
        Problem: {
            /**
             * Format: uint64
             * @description Of a `conflict`: the version that is, of the same thing.
             */
            actual_version?: number | null;
            /**
             * @description Stable, for programs: `snake_case`.
             * @default
             */
            code?: string;
            /**
             * @description One sentence for people that says what to do.
             * @default
             */
            detail?: string;
            /**
             * Format: uint64
             * @description Of a `conflict`: the version that the request named, of the notebook or of a cell.
             */
            expected_version?: number | null;
            /**
             * Format: uint
             * @description Of a `Batch` that was sent to `POST …/commands`: which of its commands was refused, from 1.
             */
            part?: number | null;
            /**
             * Format: uint64
             * @description Seconds; also in the header `Retry-After`.
             */
            retry_after?: number | null;
            /**
             * Format: uint16
             * @description The HTTP status.
             * @default 0
             */
            status?: number;
            /**
             * @description The same for every problem of this status.
             * @default
             */
            title?: string;
            /**
             * @description Names the kind: `about:blank` where `code` says it all.
             * @default
             */
            type?: string;
        };
        /** @description How you are called from now on. */
        Profile: {
            /** @description 1 to 100 characters without spaces, unique; kept in lower case. */
            login: string;
            /** @description 1 to 100 characters on one line; what others see. */
            name: string;
        };
        /** @description What you ask an assistant: either `text` or `cell_id`. Needs the right to converse. */
        Question: {
            /** @description Pictures and text that go with it, at most 8: blobs of this notebook, uploaded before (`PUT …/blobs/{sha256}`). */
            attachments?: components["schemas"]["Attachment"][];
            /** @description A prompt cell: its source is what you say. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description Goes on in this conversation, or begins it under this id; absent: a new one. */
            conversation?: components["schemas"]["ConversationId"] | null;
            /** @description One of the models that the server has; absent: its default. */
            model?: string | null;
            /** @description What you say; or `cell_id`. */
            text?: string | null;
            /** @description The id of the turn, chosen by you; absent: a new one. */
            turn?: components["schemas"]["TurnId"] | null;
        };
        /**
         * @description Whether running a cell brings the cells that hang together with it up to date.
         *
         *     `off`: A run is one cell's, as in Jupyter.
         *
         *     `lazy`: Stale cells from which the cell reads run before it. What reads from it is stale afterwards.
         *
         *     `eager`: As `lazy`, and what reads from it runs behind it.
         * @enum {string}
         */
        Reactivity: "off" | "lazy" | "eager";
        /** @description Whether running a cell brings the cells that hang together with it up to date. */
        ReactivityOf: {
            /**
             * @description `off`, `lazy` (what is stale of that from which a cell reads runs before it) or `eager` (and what reads from it runs
             *     behind it).
             */
            reactivity: components["schemas"]["Reactivity"];
        };
        /** @description Asks for rows of a table, in an order, of those that pass. */
        ReadTable: {
            /**
             * Format: uint32
             * @description How many rows; at most 10,000.
             */
            count: number;
            /** @description All of them must pass; at most 20. */
            filters?: components["schemas"]["TableFilter"][];
            /**
             * Format: uint64
             * @description The first row wanted, of those that pass in their order.
             * @default 0
             */
            first?: number;
            /** @description The table. */
            of: components["schemas"]["TableName"];
            /** @description Only rows with this in the text of a column, in small letters or capitals. At most 1 KiB. */
            search?: string;
            /** @description Absent: the order of the table. */
            sort?: components["schemas"]["TableSort"] | null;
        };
        /** @description A function that the notebook knows. */
        RegisteredFunction: {
            /** @description As the kernel has described it. */
            function: components["schemas"]["UserFunction"];
            /** @description The kernel that runs it. Absent: it ended, and the function cannot be called until a kernel registers it again. */
            kernel_session?: components["schemas"]["KernelSessionId"] | null;
            /**
             * Format: uint64
             * @description Version of the event since which it is as it is.
             */
            registered_version: number;
        };
        /** @description What an assistant has answered to a prompt cell, as far as it has come. */
        Reply: {
            /** @description Why there is no more of it, when it failed or was stopped. */
            cause?: components["schemas"]["OpenTurnFailure"] | null;
            /** @description More about the cause, in a sentence for people. */
            detail?: string | null;
            /** @description The conversation's messages hold more than `text`. */
            is_cut?: boolean;
            /** @description The cell's source when it was asked: another one now means that the reply is stale. */
            prompt: string;
            /** @description How it stands. */
            status: components["schemas"]["OpenReplyStatus"];
            /** @description Why the model stopped, when it finished. */
            stop_reason?: components["schemas"]["OpenStopReason"] | null;
            /** @description The texts of the turn's messages so far, with an empty line between them. */
            text: string;
            /** @description The turn that gives it; absent: a file or another notebook brought it. */
            turn_id?: components["schemas"]["TurnId"] | null;
        };
        /**
         * @description How a reply stands.
         *
         *     `running`: The assistant is at work.
         *
         *     `finished`: The turn has ended by itself; `stop_reason` says why.
         *
         *     `stopped`: A person stopped it.
         *
         *     `failed`: `cause` says why.
         * @enum {string}
         */
        ReplyStatus: "running" | "finished" | "stopped" | "failed";
        /** @description Who settled a thread, and when. */
        Resolution: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            at: number;
            /** @description Who resolved it. */
            by: components["schemas"]["Actor"];
        };
        /** @description Where something goes that comes back from the trash. */
        RestoreFile: {
            /** @description The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's. */
            kernel?: components["schemas"]["KernelSessionId"] | null;
            /** @description Below the working folder; absent: where it was. What exists is never replaced (`file_exists`). */
            to?: string | null;
        };
        /** @description The proof that the browser still has the key of its session. */
        Resume: {
            /** @description From `POST /api/session/challenge`. */
            challenge: string;
            /** @description The public point, as it was sent when the session began. */
            key: string;
            /** @description As `session` said when it began. */
            session: components["schemas"]["TokenId"];
            /** @description ECDSA with SHA-256 of the text `notarium-session\n<session>\n<challenge>`, 64 bytes in base64url without padding. */
            signature: string;
        };
        /** @description What to sign. */
        ResumeChallenge: {
            /** @description Good for a minute, and for this session. */
            challenge: string;
        };
        /** @description Which session a page belongs to. */
        ResumeRequest: {
            /** @description As `session` said when it began. */
            session: components["schemas"]["TokenId"];
        };
        /**
         * @description What a tool call can do, from harmless to what cannot be taken back.
         *
         *     `read`: Changes nothing.
         *
         *     `edit`: Changes what can be undone; runs harmless code.
         *
         *     `sensitive`: Runs code that reaches outside the notebook, though it destroys nothing.
         *
         *     `destructive`: Deletes, clears, restarts, overwrites, or runs code that might.
         * @enum {string}
         */
        Risk: "read" | "edit" | "sensitive" | "destructive";
        /**
         * @description What somebody is in one notebook.
         *
         *     `viewer`: Reads, exports and forks; is seen by others.
         *
         *     `commenter`: As a viewer, and comments and talks to assistants, which then can do as little.
         *
         *     `runner`: Runs, interrupts, answers stdin; edits nothing.
         *
         *     `author`: Edits and confirms edits; runs nothing.
         *
         *     `editor`: Edits, runs, confirms, undoes.
         *
         *     `owner`: Everything, and policy, sharing, redaction, erasure.
         *
         *     `agent`: A runtime agent: reports what its kernels do.
         * @enum {string}
         */
        Role: "viewer" | "commenter" | "runner" | "author" | "editor" | "owner" | "agent";
        /** @description Who ran what, when, and how it ended. */
        Run: {
            /**
             * @description It was cancelled: who wanted that, by cancelling it, or by interrupting, restarting or shutting down its kernel. In lists
             *     absent of runs that wrote much, in a comparison always.
             */
            ended_by?: components["schemas"]["Actor"] | null;
            /** @description Subject (with its source), status, requester, times, outputs: `execution` of `protocol/schema/notebook.json`. */
            execution: components["schemas"]["Execution"];
            /** @description As in `outcome.executions` of the request. */
            id: components["schemas"]["ExecutionId"];
            /**
             * Format: uint64
             * @description It has not ended, and the runtime agent of its kernel cannot be reached: since when, in milliseconds since 1970. It goes on if
             *     the agent comes back; `POST …/give-up` does not wait for that.
             */
            unreachable_since?: number | null;
        };
        /** @description A question of a run, and its answer. */
        RunInput: {
            /** @description Who answered; absent: nobody did, or has yet. */
            answered_by?: components["schemas"]["Actor"] | null;
            /** @description The answer was hidden, and is not in the record. */
            password: boolean;
            /** @description As it is to be shown. */
            prompt: string;
            /** @description The answer; absent for a password. */
            value?: string | null;
            /**
             * Format: uint64
             * @description The version of the question's event.
             */
            version: number;
        };
        /** @description Questions that a run asked on stdin, in order. */
        RunInputs: {
            /** @description With their answers. */
            inputs: components["schemas"]["RunInput"][];
        };
        /** @description Runs of all times, the last requested first, without their outputs. */
        RunPage: {
            /**
             * Format: uint64
             * @description Ask again with this as `before`; absent when there are no older ones.
             */
            next?: number | null;
            /** @description At most `limit` of them. */
            runs: components["schemas"]["Run"][];
        };
        /** @description One of `cells`, `all` and `scratch`. */
        RunRequest: {
            /**
             * @description True: every code cell with some source, from top to bottom.
             * @default false
             */
            all?: boolean;
            /** @description Cells, in this order. */
            cells?: components["schemas"]["CellId"][] | null;
            /** @description Absent: the notebook's first kernel; one is launched when there is none. */
            kernel_session?: components["schemas"]["KernelSessionId"] | null;
            /** @description Code that belongs to no cell. */
            scratch?: components["schemas"]["Scratch"] | null;
            /** @description When one fails the rest is cancelled; absent: true for several. */
            stop_on_error?: boolean | null;
            /**
             * Format: uint64
             * @description Interrupt a run after so many milliseconds; absent: never.
             */
            timeout_ms?: number | null;
        };
        /**
         * @description What a token is for. An interactive session holds all but `Agent`.
         *
         *     `read`: Read notebooks, as far as the role allows; every token has it.
         *
         *     `edit`: Edit, comment, and talk to assistants.
         *
         *     `run`: Run code and control kernels.
         *
         *     `confirm`: Decide on tool calls. No assistant, agent or MCP token can hold it.
         *
         *     `manage`: Sharing, policy, redaction, erasure.
         *
         *     `admin`: Accounts, tokens and workspaces of the whole server.
         *
         *     `agent`: Act as a runtime agent.
         * @enum {string}
         */
        Scope: "read" | "edit" | "run" | "confirm" | "manage" | "admin" | "agent";
        /** @description Code that runs in the notebook's kernel without a cell. */
        Scratch: {
            /** @description In a few words, what for. */
            purpose: string;
            /** @description In the kernel's language, at most 1 MiB. It is recorded with the run. */
            source: string;
        };
        /** @description A link by which people without an account take part in one notebook. */
        ShareLink: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description Who shared the notebook. */
            created_by: components["schemas"]["UserId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: it holds until it is revoked.
             */
            expires_at?: number | null;
            /** @description The subject of its entry in the notebook's access list, and the actor of what its guests do. */
            id: components["schemas"]["ShareLinkId"];
            /** @description What others see instead of a guest's name; may be empty. */
            label: string;
            /** @description The only notebook that it opens. */
            notebook: components["schemas"]["NotebookId"];
            /** @description As granted when it was made; the notebook's access list has what it is now. */
            role: components["schemas"]["Role"];
        };
        /** @description A link by which somebody without an account takes part. */
        ShareLinkId: string;
        /** @description A session: carry the token as `Authorization: Bearer <token>`. */
        SignedIn: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            expires_at?: number | null;
            /** @description Names the session in `DELETE /api/tokens/{token}` and `POST /api/session/challenge`; it is no secret. */
            session: components["schemas"]["TokenId"];
            /** @description In this answer and never again. */
            token: string;
            /** @description The account that you are signed in to. */
            user: components["schemas"]["User"];
        };
        /** @description Either `login` and `password`, or a one-time `token` (the printed owner token, an invitation, a reset, a link for a browser). */
        SignIn: {
            /**
             * @description With login and password: a session of 15 minutes, in place of one of 30 days. It alone confirms, shares and manages where `me`
             *     says `asks_again`. Keep it in memory, never on a disk.
             * @default false
             */
            fresh?: boolean;
            /**
             * @description Of a browser: the public point of a P-256 key that it made and whose private part nothing can read, uncompressed (65 bytes) in
             *     base64url without padding. The session is bound to it: a page that opens later gets its token from `POST /api/session/resume`.
             */
            key?: string | null;
            /**
             * @description For the list of your sessions, as in "laptop".
             * @default
             */
            label?: string;
            /** @description With a password: whom you sign in as. With an owner token: the login that you choose; goes with `name`. */
            login?: string | null;
            /** @description With an owner token: what you are called. Goes with `login`. */
            name?: string | null;
            /** @description With a reset, an invitation or an owner token: the new one. At least 10 characters. `POST /api/session/one-time` says what a token needs. */
            password?: string | null;
            /** @description The secret of a one-time token, good for one use. */
            token?: string | null;
        };
        /** @description How people sign in to this server, beside login and password and tokens. */
        SignInOptions: {
            /** @description Absent: there is no provider. */
            oidc?: components["schemas"]["OidcOption"] | null;
        };
        /**
         * @description How a cell stands to what is in the kernel.
         *
         *     `fresh`: What it shows is what running it now would give, as far as names tell.
         *
         *     `stale`: It is not.
         *
         *     `blocked`: It did not run, because a cell before it did not succeed.
         *
         *     `cycle`: It reads, over others, from itself: it does not run.
         * @enum {string}
         */
        Standing: "fresh" | "stale" | "blocked" | "cycle";
        /** @description A template that every server has. */
        Starter: {
            /** @description What it is for, on one line. */
            description: string;
            /** @description Names it in a `TemplateChoice`. */
            id: string;
            /** @description On one line. */
            title: string;
        };
        /** @description How much is undone or redone. The body may be left out. */
        Steps: {
            /**
             * @description Of your groups those that changed text and touch this cell.
             * @default null
             */
            cell_id?: components["schemas"]["CellId"] | null;
            /**
             * @description One group, by its id, instead of your last ones. Undo only.
             * @default null
             */
            correlation_id?: components["schemas"]["CorrelationId"] | null;
            /**
             * Format: uint32
             * @description Absent: one.
             * @default null
             */
            steps?: number | null;
        };
        /**
         * @description Why a turn came to its end.
         *
         *     `end_turn`: The model has said what it had to say.
         *
         *     `max_turns`: It called tools in the last model call that a turn has.
         *
         *     `max_tokens`: The reply reached the length that the model or the request allows.
         *
         *     `refusal`: The model refused to answer.
         * @enum {string}
         */
        StopReason: "end_turn" | "max_turns" | "max_tokens" | "refusal";
        /** @description Whom a notebook's access list names. */
        Subject: {
            /** @description As in the actor of the person's events. */
            id: components["schemas"]["UserId"];
            /** @constant */
            kind: "user";
        } | {
            /** @description As in the actor of their events. */
            id: components["schemas"]["ShareLinkId"];
            /** @constant */
            kind: "share_link";
        } | {
            /** @description As in `GET /api/workspaces`. */
            id: components["schemas"]["WorkspaceId"];
            /** @constant */
            kind: "workspace";
        } | {
            /** @description As in the actor of its events. */
            id: components["schemas"]["AgentId"];
            /** @constant */
            kind: "agent";
        };
        /** @description Asks what a column of a table holds. */
        SummarizeColumn: {
            /**
             * Format: uint32
             * @description Its place in `columns`.
             */
            column: number;
            /** @description The table. */
            of: components["schemas"]["TableName"];
        };
        /** @description A table or a view. */
        Table: {
            /** @description The database, where it is another than the one that names without a catalog are of: one that DuckDB has attached, or `temp`. */
            catalog?: string | null;
            /** @description In their order; at most 10,000 of all tables. */
            columns: components["schemas"]["Column"][];
            /**
             * Format: uint64
             * @description How many more it has.
             */
            columns_left_out?: number;
            /** @description Whether SQL finds it by its name alone. */
            is_visible: boolean;
            /** @description `table`, `view`, `materialized_view` or `foreign_table`. */
            kind: string;
            /** @description Its name, as it is: SQL may want it in quotes. */
            name: string;
            /** @description Its schema. */
            schema: string;
        };
        /** @description A column of a table. The columns of the index come first. */
        TableColumn: {
            /** @description It is of the index. */
            is_index?: boolean;
            /** @description `integer`, `number`, `boolean`, `datetime`, `text` or `any`; others may come. */
            kind: string;
            /** @description What the library writes where there is no value. Absent: `NaN`. */
            missing?: string | null;
            /** @description As text; names need not differ, and that of an index may be empty. */
            name: string;
            /** @description In the library's words: `int64`, `datetime64[ns, UTC]`, `String` … */
            type: string;
        };
        /** @description What the value of a column must be. */
        TableFilter: {
            /**
             * Format: uint32
             * @description Its place in `columns`.
             */
            column: number;
            /** @description How it is compared: numbers and times as such where `value` is one, everything else as text in small letters. */
            operator: components["schemas"]["TableOperator"];
            /**
             * @description Empty for `empty` and `not_empty`. At most 1 KiB.
             * @default
             */
            value?: string;
        };
        /** @description Names a table in a kernel's memory: exactly one of both. */
        TableName: {
            /** @description What the output says in `table`: the very frame that it shows, whatever its variable holds by now. */
            table?: string | null;
            /** @description A variable that holds a data frame or a series of pandas or polars. */
            variable?: string | null;
        };
        /**
         * @description How a value is compared.
         *
         *     `contains`: Its text has the other.
         *
         *     `lacks`: Its text does not have it.
         *
         *     `equal`: The same.
         *
         *     `not_equal`: Not the same, or missing.
         *
         *     `less`: Less than.
         *
         *     `at_most`: Less or the same.
         *
         *     `more`: More than.
         *
         *     `at_least`: More or the same.
         *
         *     `empty`: Missing, or an empty text.
         *
         *     `not_empty`: Neither.
         * @enum {string}
         */
        TableOperator: "contains" | "lacks" | "equal" | "not_equal" | "less" | "at_most" | "more" | "at_least" | "empty" | "not_empty";
        /** @description Rows of a table, as it is in the kernel now. */
        TablePage: {
            /** @description At most 2,000. */
            columns: components["schemas"]["TableColumn"][];
            /**
             * Format: uint64
             * @description How many more columns it has.
             */
            columns_left_out?: number;
            /**
             * @description Row by row, a value for each column: `null` where there is none, a number, a truth value, or a text. Whole numbers
             *     beyond 2^53 and numbers that are not finite (`inf`, `-inf`, `NaN`) are texts.
             */
            data: components["schemas"]["AnyJson"][][];
            /**
             * Format: uint64
             * @description The place of the first row of `data` among those that pass.
             */
            first: number;
            /** @description Its shape, its types or its first rows are others than when the output showed it. */
            is_changed?: boolean;
            /** @description Fewer rows than asked for fit in one answer: ask on behind the last. */
            is_cut?: boolean;
            /** @description What it is: `pandas.DataFrame`, `polars.Series` … */
            kind: string;
            /**
             * Format: uint64
             * @description How many of them pass.
             */
            matching: number;
            /**
             * Format: uint64
             * @description How many rows it has.
             */
            rows: number;
            /** @description Names the table in later questions. */
            table: string;
        };
        /** @description By which column rows are sorted. Rows without a value come last, equal ones keep their order. */
        TableSort: {
            /**
             * Format: uint32
             * @description Its place in `columns`.
             */
            column: number;
            /**
             * @description From the largest to the smallest.
             * @default false
             */
            is_descending?: boolean;
        };
        /** @description Puts somebody in the place of an owner whose account is deactivated. For administrators. */
        TakeOver: {
            /** @description The owner who left; loses the role. */
            from: components["schemas"]["UserId"];
            /** @description Becomes an owner; absent: you. */
            to?: components["schemas"]["UserId"] | null;
        };
        /** @description Something that a call touches, as it was when the call was requested. A change of it voids the call. */
        Target: {
            /** @description The cell. */
            cell_id: components["schemas"]["CellId"];
            /**
             * Format: uint64
             * @description The `cell_version` that it had.
             */
            cell_version: number;
            /** @constant */
            kind: "cell";
        } | {
            /**
             * Format: uint64
             * @description How many there were.
             */
            cells: number;
            /** @constant */
            kind: "code";
            /**
             * Format: uint64
             * @description The highest `cell_version` among them.
             */
            newest_version: number;
        } | {
            /** @description A restart begins another session. */
            kernel_session: components["schemas"]["KernelSessionId"];
            /** @constant */
            kind: "kernel";
        } | {
            /** @constant */
            kind: "function";
            /** @description The function's name. */
            name: string;
            /**
             * Format: uint64
             * @description The version of the event since which it is as it is.
             */
            registered_version: number;
        } | {
            /** @constant */
            kind: "file";
            /** @description As the tool was given it: relative paths begin where the kernel runs. */
            path: string;
            /** @description Lower-case hex. */
            sha256?: string | null;
        };
        /** @description What a notebook is made of: cells without outputs. */
        TemplateChoice: {
            starter: string;
        } | {
            notebook: components["schemas"]["NotebookId"];
        };
        /** @description A notebook that is a template. */
        TemplateLine: {
            /**
             * Format: uint64
             * @description How many it has.
             */
            cells: number;
            /** @description What it is for, on one line; may be empty. */
            description: string;
            /** @description Names it in a `TemplateChoice`. */
            notebook: components["schemas"]["NotebookId"];
            /** @description 1 to 255 characters on one line; not unique. */
            title: string;
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            updated_at: number;
        };
        /** @description Makes a notebook a template: kept as `notarium.template` in its metadata. */
        TemplateMark: {
            /**
             * @description What it is for: one line of at most 200 characters.
             * @default
             */
            description?: string;
        };
        /** @description What a new notebook can be made of. */
        Templates: {
            /** @description There are more notebooks than are listed. */
            is_cut: boolean;
            /** @description Notebooks that are templates and that you may see, the last changed first. */
            notebooks: components["schemas"]["TemplateLine"][];
            /** @description Of this server. */
            starters: components["schemas"]["Starter"][];
        };
        /** @description A stretch of a text: `[start, end]` in JSON, in UTF-16 code units. Empty where its text is gone. */
        TextRange: number[];
        /** @description A thread of comments on a cell, or on a range of its text. While its cell is in the trash, so is the thread. */
        Thread: {
            /** @description The cell that it is about. */
            cell_id: components["schemas"]["CellId"];
            /** @description In the order in which they were posted. */
            comments: components["schemas"]["Comment"][];
            /** @description The text of the range when the thread began, or its beginning. */
            quote?: string | null;
            /** @description Moves with the text. Empty: the text is gone. Absent: the thread is about the whole cell. */
            range?: components["schemas"]["TextRange"] | null;
            /** @description Absent: it is open. */
            resolved?: components["schemas"]["Resolution"] | null;
        };
        /** @description A thread of comments. */
        ThreadId: string;
        /** @description Where a thread's text is now. */
        ThreadMove: {
            /** @description The cell, and the range of its text. */
            place: components["schemas"]["CommentPlace"];
        };
        /** @description The comments of a notebook. */
        Threads: {
            /** @description By id: open and resolved ones, and those whose cell is in the trash. */
            threads: {
                [key: string]: components["schemas"]["Thread"];
            };
            /**
             * Format: uint64
             * @description Of the notebook.
             */
            version: number;
        };
        /** @description A token, without its secret. */
        Token: {
            /** @description Of an agent: who it is in events. */
            agent?: components["schemas"]["AgentId"] | null;
            /** @description The notebooks that it is good for. */
            covers: components["schemas"]["Covers"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description Who made it; they may revoke it. */
            created_by: components["schemas"]["UserId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: it holds until it is revoked.
             */
            expires_at?: number | null;
            /** @description Names it in `DELETE /api/tokens/{token}`. */
            id: components["schemas"]["TokenId"];
            /** @description `session`, `api` or `agent`. */
            kind: string;
            /** @description Up to 100 characters; may be empty. Of an agent: its name. */
            label: string;
            /**
             * Format: uint64
             * @description Up to ten minutes behind.
             */
            last_used_at?: number | null;
            /** @description What it may be used for, as asked for when it was made. */
            scopes: components["schemas"]["Scope"][];
        };
        /** @description A token, without its secret. */
        TokenId: string;
        /** @description A call that has not ended. */
        ToolCall: {
            /** @description It does not start before this call has ended. */
            after?: components["schemas"]["ToolCallId"] | null;
            /** @description In full, as they came. */
            arguments: components["schemas"]["AnyObject"];
            /** @description What a confirmation names: exactly these arguments of this function. */
            arguments_hash: components["schemas"]["Hash"];
            /** @description A built-in tool, or a function that a user has registered. */
            function: string;
            /** @description Whether it passed, or waits for a person and until when, as judged at the request. */
            gate: components["schemas"]["OpenGate"];
            /** @description How far it has come. In JSON: `{"phase": "waiting"}` and the like. */
            phase: components["schemas"]["ToolCallPhase"];
            /** @description Sentences: why the risk is what it is. */
            reasons?: string[];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            requested_at: number;
            /** @description The assistant, and the person for whom it acts. */
            requested_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description The version of its ToolCallRequested.
             */
            requested_version: number;
            /** @description What it could do, judged by tool, arguments, targets and code. */
            risk: components["schemas"]["OpenRisk"];
            /** @description What it touches, as it was when the call was requested. */
            targets?: components["schemas"]["OpenTarget"][];
            /** @description The turn that asked for it; absent for assistants outside. */
            turn_id?: components["schemas"]["TurnId"] | null;
        };
        /** @description One call of a tool by an assistant. */
        ToolCallId: string;
        /** @description How far a call has come that has not ended. */
        ToolCallPhase: {
            /** @constant */
            phase: "waiting";
        } | {
            /** @description Who. */
            by: components["schemas"]["Actor"];
            /** @constant */
            phase: "confirmed";
        } | {
            /** @constant */
            phase: "passed";
        } | {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            at: number;
            /** @description The server instance that executes it. */
            claimant: components["schemas"]["InstanceId"];
            /** @constant */
            phase: "started";
        };
        /** @description The cells in the trash, which can be brought back, the last deleted first. */
        Trash: {
            /** @description Each cell once, as it was when it was deleted. At most 1,000. */
            cells: components["schemas"]["TrashedCell"][];
            /** @description There may be older ones: the log was not read to its beginning. */
            incomplete?: boolean;
        };
        /** @description A cell in the trash: `POST …/cells/{cell}/restore` brings it back where it was. */
        TrashedCell: {
            /** @description Type, source, metadata, attachments and flags. */
            cell: components["schemas"]["CellContent"];
            /** @description The id that it had, and has again when it is restored. */
            cell_id: components["schemas"]["CellId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            deleted_at: number;
            /** @description Who deleted it; for an undone insertion, who undid. */
            deleted_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description The version of the event that deleted it.
             */
            deleted_version: number;
        };
        /** @description An entry of the trash. */
        TrashedFile: {
            /** @description By which it is restored. */
            id: string;
            /** @description What it is. */
            kind: components["schemas"]["FileKind"];
            /** @description Where it was, below the working folder. */
            path: string;
            /**
             * Format: uint64
             * @description By the clock of that machine.
             */
            removed_at: number;
            /**
             * Format: uint64
             * @description All of it; of a folder with very many files, of those that were counted.
             */
            size_bytes: number;
        };
        /** @description A turn that has not ended. */
        Turn: {
            /**
             * Format: uint32
             * @description Attempts of the last one.
             */
            attempts: number;
            /** @description The prompt cell that it answers; absent: it was asked in a chat. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description The conversation that it belongs to. */
            conversation_id: components["schemas"]["ConversationId"];
            /** @description Its calls reach no other notebook. */
            is_bound: boolean;
            /** @description The last one failed: the next is another attempt of it. */
            is_model_call_failed?: boolean;
            /** @description The message that it answers. */
            message_id: components["schemas"]["MessageId"];
            /** @description As the person chose; absent: the server's default. */
            model?: string | null;
            /** @description The server instance that makes the last one; absent: it is over. */
            model_call_claimant?: components["schemas"]["InstanceId"] | null;
            /**
             * Format: uint32
             * @description Model calls that have begun.
             */
            model_calls: number;
            /** @description The person for whom the assistant acts. */
            requested_by: components["schemas"]["Actor"];
            /** @description Its calls do nothing beyond these. */
            scopes: components["schemas"]["Scope"][];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            started_at: number;
            /**
             * Format: uint64
             * @description The version of its TurnStarted.
             */
            started_version: number;
        };
        /**
         * @description Why a model call gave no answer, why a turn failed, or why a reply has no more text.
         *
         *     `wrong_key`: In words: the model's provider does not accept the key.
         *
         *     `quota_exhausted`: In words: the model's provider says that no credit is left.
         *
         *     `unknown_model`: In words: the model's provider does not know the model.
         *
         *     `rate_limited`: In words: the model's provider limits the rate of calls.
         *
         *     `unavailable`: In words: the model's provider is overloaded or broken.
         *
         *     `context_too_long`: In words: the conversation is too long for the model.
         *
         *     `bad_request`: In words: the model's provider refused the request.
         *
         *     `unreachable`: In words: the model's provider cannot be reached.
         *
         *     `timed_out`: In words: the model's provider sent nothing for too long.
         *
         *     `took_too_long`: In words: the model's answer took too long.
         *
         *     `cut_stream`: In words: the model's answer was cut off.
         *
         *     `malformed_stream`: In words: the model's answer cannot be read.
         *
         *     `reply_too_long`: More than is taken from a provider, or more than a message holds.
         *     In words: the model's answer is too long.
         *
         *     `empty_reply`: In words: the model answered nothing.
         *
         *     `no_model`: No model is set up, or not the one that was chosen.
         *     In words: there is no such model here.
         *
         *     `not_asked`: The request could not be put together.
         *     In words: the model could not be asked.
         *
         *     `server_stopped`: In words: the server stopped while the model answered.
         *
         *     `refused`: The notebook refused a step of the turn.
         *     In words: the assistant may not go on.
         *
         *     `copied`: Of a reply: it was copied while it was being written.
         *     In words: the assistant was still answering when this was copied.
         *
         *     `cell_deleted`: Of a reply: its cell was in the trash when the rest was written.
         *     In words: the cell was moved to the trash meanwhile: the conversation holds the whole reply.
         * @enum {string}
         */
        TurnFailure: "wrong_key" | "quota_exhausted" | "unknown_model" | "rate_limited" | "unavailable" | "context_too_long" | "bad_request" | "unreachable" | "timed_out" | "took_too_long" | "cut_stream" | "malformed_stream" | "reply_too_long" | "empty_reply" | "no_model" | "not_asked" | "server_stopped" | "refused" | "copied" | "cell_deleted";
        /** @description An assistant's work on one message: model calls and tool calls, until it stops. */
        TurnId: string;
        /** @description Turns of all times, the last begun first. */
        TurnPage: {
            /**
             * Format: uint64
             * @description Ask again with this as `before`; absent when there are no older ones.
             */
            next?: number | null;
            /** @description At most `limit` of them. */
            turns: components["schemas"]["TurnSummary"][];
        };
        /**
         * @description Where a turn stands.
         *
         *     `running`: The assistant is at work, or waits for a person.
         *
         *     `finished`: The model stopped; `stop_reason` says why.
         *
         *     `cancelled`: A person stopped it; `cancelled_by` says who.
         *
         *     `failed`: No provider gave an answer, or the server could not go on; `cause` says why.
         * @enum {string}
         */
        TurnStatus: "running" | "finished" | "cancelled" | "failed";
        /** @description One turn, as the record has it. */
        TurnSummary: {
            /**
             * Format: uint32
             * @description With those that failed and were repeated.
             */
            attempts: number;
            /** @description Who stopped it, where somebody did. */
            cancelled_by?: components["schemas"]["Actor"] | null;
            /** @description Why it failed. */
            cause?: string | null;
            /** @description The prompt cell that it answers. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description The conversation that the turn belongs to; its messages are read there. */
            conversation_id: components["schemas"]["ConversationId"];
            /**
             * Format: uint64
             * @description When it finished, was cancelled or failed. Absent while it runs.
             */
            ended_at?: number | null;
            /** @description As in `StartTurn.turn_id`, or chosen by the server. */
            id: components["schemas"]["TurnId"];
            /** @description `provider/model` of its last model call; before the first the model that was asked for. */
            model?: string | null;
            /**
             * Format: uint32
             * @description Calls of the model so far, each answered once; at most 10.
             */
            model_calls: number;
            /** @description The person for whom the assistant acts. */
            requested_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970, like all times here.
             */
            started_at: number;
            /** @description At this moment; a turn that is over does not begin again. */
            status: components["schemas"]["TurnStatus"];
            /** @description Of a finished one: `end_turn`, `max_turns`, `max_tokens` or `refusal`. */
            stop_reason?: components["schemas"]["OpenStopReason"] | null;
            /** @description Of all attempts together: `input_tokens`, `output_tokens`; `estimated` when a part of it is. */
            usage: components["schemas"]["Usage"];
            /**
             * Format: uint64
             * @description The version of its TurnStarted event: `before` of the next page.
             */
            version: number;
        };
        /** @description What was stored of an upload. */
        Uploaded: {
            /** @description Of the bytes as they were received: the same as in the path. */
            sha256: components["schemas"]["Hash"];
            /**
             * Format: uint64
             * @description At most 256 MiB, unless the server is set otherwise.
             */
            size_bytes: number;
        };
        /** @description What a model call took, in tokens. */
        Usage: {
            /** @description The provider did not say: this is our estimate. */
            estimated?: boolean;
            /**
             * Format: uint64
             * @description Of what the model read.
             * @default 0
             */
            input_tokens?: number;
            /**
             * Format: uint64
             * @description Of what the model wrote.
             * @default 0
             */
            output_tokens?: number;
        };
        /** @description First you, then your workspaces. */
        UsageAnswer: {
            /** @description At most 1,000 of them. */
            accounts: components["schemas"]["AccountUsage"][];
        };
        /** @description An account, as its person and administrators see it. */
        User: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /**
             * Format: uint64
             * @description When an administrator ended the account's access. Absent: it is in use.
             */
            deactivated_at?: number | null;
            /** @description False: an invitation was not used yet, or an administrator has reset the password. */
            has_password: boolean;
            /** @description As in the actor of events. */
            id: components["schemas"]["UserId"];
            /** @description Whether the account administers the server. There is always one that does. */
            is_admin: boolean;
            /** @description What is typed to sign in. Absent until the person has chosen it. */
            login?: string | null;
            /** @description As the person chose it. */
            name: string;
        };
        /** @description A function as its kernel describes it. */
        UserFunction: {
            /**
             * @description What it does and when to use it, for the model and for people.
             * @default
             */
            description?: string;
            /** @description An identifier of ASCII letters, digits and `_`. */
            name: string;
            /** @description At least this; what else a call would do can raise it. */
            risk: components["schemas"]["OpenRisk"];
            /** @description JSON Schema of its arguments, of type object. */
            schema: components["schemas"]["AnyObject"];
            /**
             * @description Any text that changes when the function does.
             * @default
             */
            version?: string;
        };
        /** @description A person with an account. */
        UserId: string;
        /** @description How often a value is there. */
        ValueCount: {
            /**
             * Format: uint64
             * @description In so many rows.
             */
            count: number;
            /** @description The value. */
            value: components["schemas"]["AnyJson"];
        };
        /** @description A variable. */
        Variable: {
            /**
             * Format: uint64
             * @description Of memory, without what it refers to; absent where that is not known cheaply.
             */
            bytes?: number | null;
            /** @description `read_table` reads it. */
            is_table?: boolean;
            /**
             * Format: uint64
             * @description Of containers and texts.
             */
            length?: number | null;
            /** @description Its name. */
            name: string;
            /** @description The beginning of what it holds. `[hidden]`: its name says that it is a secret. */
            preview?: string | null;
            /** @description Of arrays and tables: the length of each axis. */
            shape?: number[] | null;
            /** @description Its type, with the module where it is not Python's own. */
            type: string;
        };
        /** @description The variables of a kernel: the user's own, no modules, functions or classes, and none that begins with `_`. */
        VariableList: {
            /**
             * Format: uint64
             * @description How many more there are.
             */
            left_out?: number;
            /** @description In the order in which they were made first; at most 200, those made last. */
            variables: components["schemas"]["Variable"][];
        };
        /** @description What came of reading the record to a version and hashing every event of it. */
        Verification: {
            /** @description The hash of that event. */
            hash: components["schemas"]["Hash"];
            /** @description The chain is whole. */
            ok: boolean;
            /** @description Where and how the chain breaks first. */
            problem?: string | null;
            /** @description SHA-256 of the state that the events lead to, in JSON: the same on every server that has the same events. */
            state_hash?: components["schemas"]["Hash"] | null;
            /** @description The state that is served is the one that the events lead to. Absent for the past. */
            state_is_replayed?: boolean | null;
            /**
             * Format: uint64
             * @description The last version that is proven.
             */
            version: number;
        };
        /** @description A name for a version, so that people find it again. */
        VersionName: {
            /** @description 1 to 255 characters on one line; replaces the name that the version has. */
            name: string;
            /**
             * Format: uint64
             * @description 1 up to the notebook's own version.
             */
            version: number;
        };
        /** @description A call that waits, and where. */
        WaitingCall: {
            /** @description In full, arguments included; its state is `waiting`. */
            call: components["schemas"]["Call"];
            /** @description What would happen if you confirmed. */
            confirmation: components["schemas"]["Confirmation"];
            /** @description Where to decide: `POST /api/notebooks/{notebook}/calls/{call}/confirm`. */
            notebook: components["schemas"]["NotebookId"];
            /** @description The notebook's title now. */
            title: string;
        };
        /** @description A group of notebooks and people. */
        Workspace: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description Chosen by the server. */
            id: components["schemas"]["WorkspaceId"];
            /** @description 1 to 100 characters on one line; not unique. */
            name: string;
            /** @description Yours, in each of its notebooks. */
            role: components["schemas"]["Role"];
        };
        /** @description A workspace: a group of notebooks and people. */
        WorkspaceId: string;
        /** @description A workspace to be made or renamed; who makes one owns it. */
        WorkspaceName: {
            /** @description 1 to 100 characters on one line; not unique. */
            name: string;
        };
        /** @description A file that was stored. */
        WrittenFile: {
            /** @description Below the working folder. */
            path: string;
            /** @description It took the place of another. */
            replaced: boolean;
            /** @description Of its bytes, in lower-case hex. */
            sha256: string;
            /**
             * Format: uint64
             * @description All of it.
             */
            size_bytes: number;
        };
        /** @description Confirms a call. Needs a person, in a session or with a token that has the scope `confirm`. */
        Yes: {
            /** @description Of the call as you saw it. */
            arguments_hash: components["schemas"]["Hash"];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_agents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_agents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAgent"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedToken"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_agents_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_audit: {
        parameters: {
            query?: {
                /** @description The number of the last entry of the page before. */
                before?: number | null;
                /** @description 1 to 1,000; absent: 100. */
                limit?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntry"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_confirmations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Confirmations"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_guests_link: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                link: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Guest"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_import: {
        parameters: {
            query?: {
                /** @description The name of the file. */
                filename?: string | null;
                /** @description Of the new notebook, chosen by you; absent: from `Idempotency-Key`, else new. */
                id?: components["schemas"]["NotebookId"] | null;
                /** @description Absent: what the file says, else the name of the file. */
                title?: string | null;
            };
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Profile"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_me_identities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Identity"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_me_identities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OidcFinish"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Identity"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_me_identities_identity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identity: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_me_identities_begin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityBegin"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OidcBegun"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_me_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Models"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks: {
        parameters: {
            query?: {
                /** @description Only archived (true) or only unarchived (false) ones; absent: unarchived. */
                archived?: boolean | null;
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description 1 to 200; absent: 50. */
                limit?: number | null;
                /** @description True: each line says too what happens in its notebook this moment (`now`). */
                live?: boolean | null;
                /** @description With `text`, true: each line says too where the words were found (`found`). */
                snippets?: boolean | null;
                /** @description Absent: the last changed first. */
                sort?: components["schemas"]["ListOrder"] | null;
                /** @description Words that all stand in title or sources. */
                text?: string | null;
                /** @description A workspace's id. */
                workspace?: components["schemas"]["WorkspaceId"] | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotebookPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewNotebook"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook: {
        parameters: {
            query?: {
                /** @description A version of the past; absent: now. */
                at?: number | null;
                /** @description False: without the outputs. */
                outputs?: boolean | null;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotebookAnswer"];
                };
            };
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    patch_notebooks_notebook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NotebookChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_access: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Access"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_notebooks_notebook_access: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccessGrant"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_access: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccessEnd"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_archive: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_blobs_sha256: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
                sha256: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_notebooks_notebook_blobs_sha256: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
                sha256: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Uploaded"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Uploaded"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_calls: {
        parameters: {
            query?: {
                /** @description Calls requested before this version: `next` of the page before. */
                before?: number | null;
                /** @description Only of this function, for instance `delete_cell`. */
                function?: string | null;
                /** @description 1 to 200; absent: 50. */
                limit?: number | null;
                /** @description Only requested at this time or later: milliseconds since 1970. */
                since?: number | null;
                /** @description Only in this state. */
                state?: components["schemas"]["CallState"] | null;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_calls_call: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallInFull"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_calls_call_confirm: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                call: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Yes"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_calls_call_deny: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                call: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Because"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_calls_call_undo: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                call: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_calls_call_withdraw: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                call: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Because"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_cells: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCell"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_cells_cell: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cell: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CellAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_cells_cell: {
        parameters: {
            query?: {
                /** @description Refuse when the cell has moved on. */
                cell_version?: number | null;
            };
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                cell: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    patch_notebooks_notebook_cells_cell: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                cell: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CellChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_cells_cell_move: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                cell: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CellMove"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_cells_cell_outputs: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                cell: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_cells_cell_restore: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                cell: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_cells_cell_threads: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                cell: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewThread"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_chat: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Question"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ChatEvent"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_commands: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnyCommand"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_conversations: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversations"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_conversations_conversation_messages: {
        parameters: {
            query?: {
                /** @description Messages posted before this version: `next` of the page before. */
                before?: number | null;
                /** @description 1 to 200; absent: 50. */
                limit?: number | null;
            };
            header?: never;
            path: {
                conversation: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagePage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_notebooks_notebook_conversations_conversation_messages_message_flags: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                conversation: string;
                message: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewFlags"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_events: {
        parameters: {
            query?: {
                /** @description Events after this version; absent: from the beginning, or for a stream from now on. */
                after?: number | null;
                /** @description Of a page: 1 to 1,000; absent: 200. */
                limit?: number | null;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                    "application/x-ndjson": string;
                    "text/event-stream": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_export: {
        parameters: {
            query?: {
                /** @description A version of the past; absent: now. */
                at?: number | null;
                /** @description `ipynb` where it is left out. */
                format?: components["schemas"]["ExportFormat"] | null;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ipynb+json": components["schemas"]["AnyObject"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_files: {
        parameters: {
            query?: {
                /** @description The name after which the page begins: `next` of the page before. */
                after?: string | null;
                /** @description Those too whose names begin with a dot. */
                all?: boolean;
                /** @description The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Entries of the page, 1 to 1,000; absent: 200. */
                limit?: number | null;
                /** @description Below the working folder; absent: that folder itself. */
                path?: string;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileList"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_files_about: {
        parameters: {
            query: {
                /** @description The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Below the working folder, with `/` between folders: no `..`, and no `/` at the beginning. */
                path: string;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileEntry"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_files_content: {
        parameters: {
            query: {
                /** @description The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Below the working folder, with `/` between folders: no `..`, and no `/` at the beginning. */
                path: string;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_notebooks_notebook_files_content: {
        parameters: {
            query: {
                /** @description The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Whether a file of this name is replaced. Without, it is refused (`file_exists`). */
                overwrite?: boolean;
                /** @description Below the working folder, with `/` between folders. Folders on the way are made. */
                path: string;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenFile"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenFile"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_files_content: {
        parameters: {
            query: {
                /** @description The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Below the working folder, with `/` between folders: no `..`, and no `/` at the beginning. */
                path: string;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrashedFile"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_files_move: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveFile"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MovedFile"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_files_trash: {
        parameters: {
            query?: {
                /** @description The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileTrash"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_files_trash: {
        parameters: {
            query?: {
                /** @description The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileTrash"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_files_trash_entry: {
        parameters: {
            query?: {
                /** @description The kernel whose folder is meant; absent: the one that a cell would run on now, else the only runtime agent's. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
            };
            header?: never;
            path: {
                entry: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileTrash"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_files_trash_entry_restore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                entry: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RestoreFile"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MovedFile"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_fork: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Fork"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_functions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Functions"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_functions_function_calls: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                function: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FunctionArguments"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_grants: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grants"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_grants: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewGrant"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedGrant"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_grants_grant: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                grant: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_graph: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotebookGraph"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_kernels: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Kernels"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_kernels: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Launch"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_kernels_kernel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                kernel: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_kernels_kernel_complete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                kernel: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskCompletion"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Completion"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_kernels_kernel_inspect: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                kernel: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskInspection"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Inspection"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_kernels_kernel_interrupt: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                kernel: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_kernels_kernel_restart: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                kernel: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_owner: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOwner"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_policy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyOf"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_notebooks_notebook_policy: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyOf"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_reactivity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReactivityOf"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_notebooks_notebook_reactivity: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReactivityOf"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_redo: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Steps"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_runs: {
        parameters: {
            query?: {
                /** @description Runs requested before this version: `next` of the page before. */
                before?: number | null;
                /** @description Only of this cell. */
                cell?: components["schemas"]["CellId"] | null;
                /** @description 1 to 200; absent: 50. */
                limit?: number | null;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_runs: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_runs_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_runs_run_cancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_runs_run_compare_other: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
                other: string;
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Comparison"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_runs_run_give_up: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_runs_run_input: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InputValue"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_runs_run_inputs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunInputs"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_schema: {
        parameters: {
            query: {
                /** @description A connection that the kernel's runtime agent offers, `duckdb` (in the kernel's memory), or a file of the working folder. */
                connection: string;
                /** @description The kernel that is asked; absent: the one that a cell would run on now. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Only tables with this in `schema.name`, in small letters or capitals. */
                matching?: string;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionSchema"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_share_links: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShareLink"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_share_links: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewShareLink"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedShareLink"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_share_links_link: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                link: string;
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_stop: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_table: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskTable"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TablePage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_table_summary: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskColumn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ColumnSummary"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_take_over: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TakeOver"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_notebooks_notebook_template: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TemplateMark"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_template: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_threads: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Threads"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_threads_thread_comments: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
                thread: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommentText"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_notebooks_notebook_threads_thread_comments_comment: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                comment: string;
                notebook: string;
                thread: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    patch_notebooks_notebook_threads_thread_comments_comment: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                comment: string;
                notebook: string;
                thread: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommentText"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_threads_thread_move: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
                thread: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ThreadMove"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_threads_thread_reopen: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
                thread: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_threads_thread_resolve: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
                thread: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_trash: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trash"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_turns: {
        parameters: {
            query?: {
                /** @description Turns that began before this version: `next` of the page before. */
                before?: number | null;
                /** @description Only of this conversation. */
                conversation?: components["schemas"]["ConversationId"] | null;
                /** @description 1 to 200; absent: 50. */
                limit?: number | null;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_turns_turn_cancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
                turn: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_turns_turn_stream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
                turn: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ChatEvent"];
                };
            };
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_turns_turn_undo: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
                turn: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_unarchive: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_undo: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Steps"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_variables: {
        parameters: {
            query?: {
                /** @description The kernel that is asked; absent: the one that a cell would run on now. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VariableList"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notebooks_notebook_verify: {
        parameters: {
            query?: {
                /** @description A version of the past; absent: now. */
                at?: number | null;
            };
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verification"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_notebooks_notebook_versions: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the command: a repeat with the same body is applied once, and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description Refuse with `conflict` unless the notebook is at this version. */
                "If-Match"?: string;
            };
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VersionName"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_notebooks_notebook_workspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                notebook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Placement"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_people: {
        parameters: {
            query: {
                /** @description The whole login: there is no search. */
                login: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Person"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_people_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Person"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_people_matching: {
        parameters: {
            query: {
                /** @description Each word begins a word of the name, or the login. 1 to 100 characters. */
                text: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundPerson"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_browser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BindBrowser"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_challenge: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResumeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResumeChallenge"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_link: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OneTimeToken"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_oidc: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OidcFinish"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_oidc_begin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OidcBegin"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OidcBegun"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_one_time: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OneTimeQuestion"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OneTimeUse"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_session_options: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInOptions"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_session_resume: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Resume"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_templates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Templates"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Token"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiToken"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedToken"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_tokens_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_transfers_transfer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                transfer: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_transfers_transfer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                transfer: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_usage: {
        parameters: {
            query?: {
                /** @description True: of everybody, who uses most of the disk first; for administrators. */
                all?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_users: {
        parameters: {
            query?: {
                /** @description The id of the last user of the page before. */
                after?: components["schemas"]["UserId"] | null;
                /** @description 1 to 1,000; absent: 100. */
                limit?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_users: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewUser"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedUser"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_users_user_admin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdminChange"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_users_user_deactivate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_users_user_identities: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Identity"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_users_user_identities_identity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                identity: string;
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_users_user_notebooks: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description 1 to 1,000; absent: 100. */
                limit?: number | null;
            };
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnedPage"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_users_user_reactivate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_users_user_reset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OneTimeToken"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_workspaces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    post_workspaces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceName"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_workspaces_workspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspace: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkspaceName"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_workspaces_workspace_members: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"][];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_workspaces_workspace_members_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
                workspace: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberRole"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_workspaces_workspace_members_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
                workspace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
