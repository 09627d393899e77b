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
        /** @description Access list of a notebook, and your role in it. */
        Access: {
            /** @description Sorted by kind (`user`, `share_link`, `workspace`, `agent`), then by id. At most 1,000 entries. */
            access: components["schemas"]["AccessEntry"][];
            /** @description Your role now. */
            role: components["schemas"]["Role"];
            /**
             * Format: uint64
             * @description The notebook's version for which the list is current.
             */
            version: number;
        };
        /** @description Removes a subject from the access list. The last owner cannot be removed (`last_owner`). */
        AccessEnd: {
            /** @description `{"kind": "user", "id": "…"}`, or of the kind `share_link`, `workspace` or `agent`. */
            subject: components["schemas"]["Subject"];
        };
        /** @description One entry of the access list. */
        AccessEntry: {
            /**
             * Format: uint64
             * @description Time at which the role ends, in milliseconds since 1970. Absent: until it is revoked.
             */
            expires_at?: number | null;
            /** @description The role of the subject. */
            role: components["schemas"]["Role"];
            /** @description The holder of the role. Each subject has at most one entry. */
            subject: components["schemas"]["Subject"];
        };
        /** @description Gives a subject a role, in place of the one it has. Needs the right to share. */
        AccessGrant: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: valid until revoked.
             */
            expires_at?: number | null;
            /** @description `viewer`, `commenter`, `runner`, `author`, `editor`, `owner`; `agent` for runtime agents. */
            role: components["schemas"]["Role"];
            /** @description `{"kind": "user", "id": "…"}`, or of the kind `share_link`, `workspace` or `agent`. */
            subject: components["schemas"]["Subject"];
        };
        /** @description Use and quota of an account. */
        AccountUsage: {
            /** @description Quotas; commands that would exceed one are refused (`limit_exceeded`). */
            limits: components["schemas"]["Amounts"];
            /** @description The person; absent: a workspace. */
            person?: components["schemas"]["UserId"] | null;
            /** @description Current use. Too low in the first seconds after a start of the server, until existing notebooks are counted. */
            used: components["schemas"]["Amounts"];
            /** @description The workspace; absent: a person. */
            workspace?: components["schemas"]["WorkspaceId"] | null;
        };
        /** @description The author of an event. Ids are opaque; the accounts have the names. */
        Actor: {
            /** @description The user's id. `GET /api/people/{user}` returns the name. */
            id: components["schemas"]["UserId"];
            /** @constant */
            kind: "user";
        } | {
            /** @constant */
            kind: "guest";
            /** @description The share link's id, the same for all its guests. */
            share_link: components["schemas"]["ShareLinkId"];
        } | {
            /** @description The conversation in which the assistant acts. */
            conversation: components["schemas"]["ConversationId"];
            /** @description The person for whom the assistant acts, with at most this person's rights. */
            for_user: components["schemas"]["UserId"];
            /** @constant */
            kind: "assistant";
        } | {
            /** @description The id from the agent's token, the same after every start. */
            id: components["schemas"]["AgentId"];
            /** @constant */
            kind: "agent";
        } | {
            /** @constant */
            kind: "system";
        };
        /** @description Makes an account an administrator, or an ordinary one. The last administrator cannot be changed. */
        AdminChange: {
            /** @description True: administrator. */
            is_admin: boolean;
        };
        /** @description Id of a runtime agent. */
        AgentId: string;
        /** @description Health of the server. */
        Alive: {
            /** @description Problems that the operator should look at, in sentences. */
            problems?: string[];
            /** @description `ok`, or `degraded` if there are problems; a server that is not ready answers with a [`Problem`] instead. */
            status: string;
            /** @description The server's release, as in `0.1.0`. */
            version: string;
        };
        /** @description Numbers of notebooks and bytes. */
        Amounts: {
            /**
             * Format: uint64
             * @description Bytes of their large outputs.
             */
            blob_bytes: number;
            /**
             * Format: uint64
             * @description Bytes of their records: payloads, plus 256 bytes per event.
             */
            log_bytes: number;
            /**
             * Format: uint64
             * @description Number of notebooks. A notebook in a workspace counts for the workspace, any other for each of its owners.
             */
            notebooks: number;
        };
        /** @description Answer to an accepted command, whose events are on disk. */
        Answer: {
            /** @description Command id: a retry with it gets the same answer. */
            command_id: components["schemas"]["CommandId"];
            /** @description The notebook of the command; for a fork or an import the new one. */
            notebook: components["schemas"]["NotebookId"];
            /** @description Ids that the server chose, and notices. */
            outcome: components["schemas"]["Outcome"];
            /**
             * Format: uint64
             * @description The notebook's version after the command.
             */
            version: number;
        };
        /** @description Any command of the core, as over the socket. */
        AnyCommand: {
            /** @description A command of `protocol/schema/command.json`. */
            body: components["schemas"]["AnyJson"];
            /** @description The undo group; absent: a group for this command. */
            correlation_id?: components["schemas"]["CorrelationId"] | null;
            /**
             * Format: uint64
             * @description Refuses the command unless the notebook is at this version. Alternatively the header `If-Match`.
             */
            expected_version?: number | null;
            /** @description Command id, chosen by you and new for every command; a retry is applied once. Absent: `Idempotency-Key`, else new. */
            id?: components["schemas"]["CommandId"] | null;
        };
        AnyJson: unknown;
        AnyObject: Record<string, unknown>;
        /** @description Asks for a summary of a column of a table in a kernel's memory. */
        AskColumn: {
            /**
             * @description Kernel that is asked; absent: the kernel that a cell would run on now.
             * @default null
             */
            kernel?: components["schemas"]["KernelSessionId"] | null;
            /** @description Table and column to summarize. */
            summarize: components["schemas"]["SummarizeColumn"];
        };
        /** @description Asks for completions at a place in code that is being written. */
        AskCompletion: {
            /** @description Text around the cursor. */
            code: string;
            /**
             * Format: uint32
             * @description Cursor position in `code`, in UTF-16 code units.
             */
            cursor: number;
        };
        /** @description Asks for documentation of the name at the cursor; after an open bracket, of the called function. */
        AskInspection: {
            /** @description Text around the cursor. */
            code: string;
            /**
             * Format: uint32
             * @description Cursor position in `code`, in UTF-16 code units.
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
             * @description Kernel that is asked; absent: the kernel that a cell would run on now.
             * @default null
             */
            kernel?: components["schemas"]["KernelSessionId"] | null;
            /** @description Table and rows to read. */
            read: components["schemas"]["ReadTable"];
        };
        /** @description A person's permission for calls of one conversation, for a limited time. */
        AssistantGrant: {
            /** @description The only conversation that the grant covers. */
            conversation_id: components["schemas"]["ConversationId"];
            /**
             * Format: uint64
             * @description Time at which the grant ends, in milliseconds since 1970.
             */
            expires_at: number;
            /**
             * @description The person for whom the assistant acted when the grant was issued. Calls for other persons in the conversation
             *     are not covered.
             */
            for_user: components["schemas"]["UserId"];
            /** @description Names of the functions that the grant covers. Empty: every function. */
            functions?: string[];
            /** @description The person who issued the grant. The grant counts only while this person could confirm the call. */
            issued_by: components["schemas"]["Actor"];
        };
        /** @description A picture or file that is attached to a message, stored as a blob of the notebook. */
        Attachment: {
            /** @description Media type, such as `image/png`. */
            media_type: string;
            /** @description Name of the person's file, 1 to 255 characters. */
            name: string;
            /** @description SHA-256 of the bytes, in lower-case hex, which names the blob. */
            sha256: string;
            /**
             * Format: uint64
             * @description Size in bytes.
             */
            size_bytes: number;
        };
        /** @description One change of accounts, tokens, workspaces or share links. Changes of rights in a notebook are events of that notebook instead. */
        AuditEntry: {
            /** @description Action, as in `user.deactivate`. */
            action: string;
            /** @description Actor, as in `user:01J…`. */
            actor: string;
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            at: number;
            /**
             * Format: uint64
             * @description Serial number over the whole server, from 1; `before` of the next page.
             */
            number: number;
            /** @description Id of the changed user, token, workspace, notebook or link. */
            subject: string;
        };
        /** @description Denies or withdraws a call. The body may be omitted. */
        Because: {
            /**
             * @description Reason, which the assistant reads.
             * @default
             */
            reason?: string;
        };
        /** @description Binds a session to a browser that was opened with its token. */
        BindBrowser: {
            /** @description Public key, as in `SignIn.key`. */
            key: string;
            /**
             * @description Label in the list of your sessions, as in "laptop".
             * @default
             */
            label?: string;
        };
        /** @description One part of an output that is stored in a blob instead of the event. */
        BlobPart: {
            /** @description False: the bytes are the UTF-8 text of a JSON string. True: the bytes are JSON. */
            json?: boolean;
            /** @description JSON pointer (RFC 6901) into `content`, to the place of the missing value. */
            pointer: string;
            /** @description Lower-case hex of the SHA-256 of the blob's bytes. */
            sha256: string;
            /**
             * Format: uint64
             * @description Size of the blob, in bytes.
             */
            size_bytes: number;
        };
        /** @description One tool call of an assistant, with its full record. */
        Call: {
            /** @description Call that must have ended before this one starts. */
            after?: components["schemas"]["ToolCallId"] | null;
            /** @description All arguments. */
            arguments: components["schemas"]["AnyObject"];
            /** @description Hash of exactly these arguments of this function; a confirmation names it. */
            arguments_hash: components["schemas"]["Hash"];
            /**
             * @description Means by which a person confirmed or denied it: the interface, and the label of the session or token. Absent without such a
             *     decision, and for decisions before version 0.1 recorded it.
             */
            by_means?: components["schemas"]["Means"] | null;
            /**
             * Format: uint64
             * @description Time of the decision.
             */
            decided_at?: number | null;
            /** @description Actor who confirmed, denied or withdrew it. */
            decided_by?: components["schemas"]["Actor"] | null;
            /**
             * Format: uint64
             * @description Time from start to end, in milliseconds; absent until both are known.
             */
            duration_ms?: number | null;
            /**
             * Format: uint64
             * @description End time of a started call; absent for calls that never started.
             */
            ended_at?: number | null;
            /**
             * Format: uint64
             * @description Deadline for a confirmation, if it needs one.
             */
            expires_at?: number | null;
            /** @description Name of a built-in tool, or of a function that a user has registered. */
            function: string;
            /** @description Call id. Also the correlation id of all its changes, so `Undo {"correlation_id": …}` reverts them. */
            id: components["schemas"]["ToolCallId"];
            /**
             * @description Tokens of the model call that requested it: `input_tokens`, `output_tokens`; `estimated` if the provider reported none. Calls
             *     requested together have the same values. Absent outside of turns.
             */
            model_usage?: components["schemas"]["Usage"] | null;
            /** @description Reason why it may start: the policy, a grant, or a person's confirmation. */
            passed_by?: components["schemas"]["OpenPassed"] | null;
            /** @description Reason of a denial, withdrawal or voiding. */
            reason?: string | null;
            /** @description Reasons why the risk is higher than the tool's default. */
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
             * @description Version of its ToolCallRequested event: `before` of the next page.
             */
            requested_version: number;
            /** @description Text that the assistant received as the result. */
            result?: string | null;
            /** @description `read`, `edit`, `sensitive` or `destructive`. */
            risk: components["schemas"]["OpenRisk"];
            /**
             * Format: uint64
             * @description Start time; absent if it has not started.
             */
            started_at?: number | null;
            /** @description Current state. */
            state: components["schemas"]["CallState"];
            /** @description Targets as of the time of the request. */
            targets?: components["schemas"]["OpenTarget"][];
            /** @description Turn that requested it. Absent for external assistants. */
            turn_id?: components["schemas"]["TurnId"] | null;
        };
        /** @description One call, and the effects of a confirmation. */
        CallInFull: {
            /** @description The call's full record. */
            call: components["schemas"]["Call"];
            /** @description Effects of a confirmation. Absent once the call has started or ended. */
            confirmation?: components["schemas"]["Confirmation"] | null;
            /** @description True if the call waits for a decision that you may make. */
            may_decide: boolean;
            /** @description The notebook's title. */
            title: string;
        };
        /** @description Page of all tool calls, past ones included. */
        CallPage: {
            /** @description Calls; on the first page the waiting ones come first. */
            calls: components["schemas"]["Call"][];
            /**
             * Format: uint64
             * @description Value of `before` for the next page; absent when there are no older calls.
             */
            next?: number | null;
        };
        /**
         * @description State of a call.
         *
         *     `waiting`: Waits for a confirmation by a person.
         *
         *     `passed`: Needs no confirmation; not started yet.
         *
         *     `confirmed`: Confirmed by a person; not started yet.
         *
         *     `running`: Started and not ended; other servers and restarts do not start it again.
         *
         *     `succeeded`: Succeeded; `result` is the tool's answer.
         *
         *     `failed`: Failed for certain; `result` has the reason.
         *
         *     `outcome_unknown`: Its executor died meanwhile, so the outcome is unknown. It is not repeated.
         *
         *     `denied`: Denied by a person; see `decided_by` and `reason`.
         *
         *     `withdrawn`: Withdrawn before its start: by its person, by an editor, or because its turn ended.
         *
         *     `voided`: Closed before its start: its target changed, or a person lost a right.
         *
         *     `expired`: Closed without a decision in time (24 hours by default).
         * @enum {string}
         */
        CallState: "waiting" | "passed" | "confirmed" | "running" | "succeeded" | "failed" | "outcome_unknown" | "denied" | "withdrawn" | "voided" | "expired";
        /** @description A live cell. In JSON the fields of its content are beside the versions. */
        Cell: {
            /** @description File name to MIME bundle, as in nbformat. Absent: none. */
            attachments?: components["schemas"]["AnyObject"] | null;
            /** @description The cell's type. */
            cell_type: components["schemas"]["CellType"];
            /**
             * Format: uint64
             * @description Version of the last event that changed source, type, place or existence. Preconditions use it.
             */
            cell_version: number;
            /** @description The cell's flags. Absent: none is set. */
            flags?: components["schemas"]["CellFlags"];
            /** @description The cell's metadata, as in nbformat. Absent: `{}`. */
            metadata?: components["schemas"]["AnyObject"];
            /** @description The cell's place. Cells are sorted by this key, then by id. */
            order_key: components["schemas"]["OrderKey"];
            /** @description The reply that a prompt cell shows. Absent: none. */
            reply?: components["schemas"]["Reply"] | null;
            /** @description The cell's source, at most 1 MiB, with `\n` line breaks only. May be empty. */
            source: string;
            /**
             * Format: uint64
             * @description Version of the last event that changed the source. A change whose base is not older needs no transform.
             */
            source_version: number;
        };
        /** @description A cell in its current state. */
        CellAnswer: {
            /** @description Source, type, metadata, flags and versions. */
            cell: components["schemas"]["Cell"];
            /** @description Cell id, as in the path. */
            cell_id: components["schemas"]["CellId"];
            /** @description The run whose outputs the cell shows. */
            execution?: components["schemas"]["Execution"] | null;
            /** @description Id of `execution`, for `…/runs/{run}`. */
            run?: components["schemas"]["ExecutionId"] | null;
            /** @description True if the source has changed since it was executed. */
            stale: boolean;
            /**
             * Format: uint64
             * @description Version of the notebook.
             */
            version: number;
        };
        /** @description Changes of a cell: either `source` with `cell_version`, or `change` with `base`, and any other fields. */
        CellChange: {
            /** @description New attachments as a whole; absent: unchanged. */
            attachments?: components["schemas"]["AnyObject"] | null;
            /**
             * Format: uint64
             * @description The notebook's version that `change` applies to.
             */
            base?: number | null;
            /** @description `code`, `markdown`, `raw`, `sql` or `prompt`; absent: unchanged. */
            cell_type?: components["schemas"]["CellType"] | null;
            /**
             * Format: uint64
             * @description The `cell_version` that you read; a cell with a newer one is not changed (`conflict`).
             */
            cell_version?: number | null;
            /** @description A CodeMirror ChangeSet: see `protocol/README.md`, Text. */
            change?: components["schemas"]["ChangeSet"] | null;
            /** @description Flags to set or clear; other flags are unchanged. */
            flags?: components["schemas"]["CellFlagChanges"] | null;
            /** @description New metadata as a whole; absent: unchanged. */
            metadata?: components["schemas"]["AnyObject"] | null;
            /** @description New source as a whole. */
            source?: string | null;
        };
        /** @description Content of a cell, as events carry it. */
        CellContent: {
            /** @description File name to MIME bundle, as in nbformat. Absent: none. */
            attachments?: components["schemas"]["AnyObject"] | null;
            /** @description The cell's type. */
            cell_type: components["schemas"]["CellType"];
            /** @description The cell's flags. Absent: none is set. */
            flags?: components["schemas"]["CellFlags"];
            /** @description The cell's metadata, as in nbformat. Absent: `{}`. */
            metadata?: components["schemas"]["AnyObject"];
            /** @description The cell's place. Cells are sorted by this key, then by id. */
            order_key: components["schemas"]["OrderKey"];
            /** @description The cell's source, at most 1 MiB, with `\n` line breaks only. May be empty. */
            source: string;
        };
        /** @description Flags of a cell to change. Absent flags stay as they are. */
        CellFlagChanges: {
            /**
             * Format: uint8
             * @description Number of a bookmark, 1 to 9. 0 removes the bookmark.
             */
            bookmark?: number | null;
            /** @description A flag for exporters. Notarium stores it and does not use it. */
            exported?: boolean | null;
            /** @description For a heading: the cells below it, up to the next heading, are not shown. */
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
        /** @description Flags of a cell: its display and its use, not its content. */
        CellFlags: {
            /**
             * Format: uint8
             * @description Number of a bookmark, 1 to 9. Absent: none.
             */
            bookmark?: number | null;
            /** @description A flag for exporters. Notarium stores it and does not use it. */
            exported?: boolean;
            /** @description For a heading: the cells below it, up to the next heading, are not shown. */
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
        /** @description Id of a cell, as in nbformat 4.5. */
        CellId: string;
        /** @description New position of a cell. Needs the right to edit. */
        CellMove: {
            /**
             * Format: uint64
             * @description Expected `cell_version`; a cell with a newer one is not moved (`conflict`).
             */
            cell_version?: number | null;
            /** @description `"start"`, `"end"`, `{"before": "CELL"}` or `{"after": "CELL"}`. */
            place: components["schemas"]["Place"];
        };
        /** @description Dependencies and state of one code or SQL cell. */
        CellReport: {
            /** @description The other cell that `why` is about. Absent: none. */
            because_of?: components["schemas"]["CellId"] | null;
            /** @description The cell. */
            cell_id: components["schemas"]["CellId"];
            /** @description Cells that read from this one. */
            children?: components["schemas"]["LinkReport"][];
            /** @description Names that the cell reads and no cell defines. */
            missing?: string[];
            /** @description True: the names are those of an earlier text, because the present one does not parse or is too long. */
            outdated?: boolean;
            /** @description Cells from which this one reads. */
            parents?: components["schemas"]["LinkReport"][];
            /** @description Names that the cell reads from other cells, sorted. */
            reads: string[];
            /** @description The cell's state. */
            standing: components["schemas"]["Standing"];
            /** @description The reason, in a sentence for people. Absent: the cell is fresh. */
            why?: string | null;
            /** @description Names that the cell defines for other cells, sorted. */
            writes: string[];
        };
        /**
         * @description Type of a cell. `.ipynb` files have `sql` as code and `prompt` as Markdown, with Notarium's mark in the metadata.
         *
         *     `code`: Source that the kernel runs.
         *
         *     `markdown`: Markdown, shown as a page.
         *
         *     `raw`: Text that is neither run nor rendered.
         *
         *     `sql`: An SQL query, which the kernel runs; in `.ipynb` a code cell.
         *
         *     `prompt`: A message to an assistant, whose reply the cell shows; in `.ipynb` a Markdown cell.
         * @enum {string}
         */
        CellType: "code" | "markdown" | "raw" | "sql" | "prompt";
        /** @description CodeMirror's ChangeSet JSON: n keeps n UTF-16 units, [n] deletes n, [n, line, …] replaces n by the lines joined with \n. */
        ChangeSet: (number | [
            number
        ])[];
        /**
         * @description An event of the stream; `type` is also the name of the server-sent event. Blocks are counted from 0 in each model call. A block that
         *     begins again replaces its earlier text and all blocks after it.
         */
        ChatEvent: {
            /** @description The prompt cell that the turn answers. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description Conversation of the turn: continue it with `Question.conversation`. */
            conversation_id: components["schemas"]["ConversationId"];
            /** @description The requested model. */
            model?: string | null;
            /** @description The person who asked, and for whom the assistant acts. */
            requested_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            started_at: number;
            /** @description Turn id: stop it with `POST …/turns/{turn}/cancel`, follow it again with `GET …/turns/{turn}/stream`. */
            turn_id: components["schemas"]["TurnId"];
            /** @constant */
            type: "turn";
        } | {
            /**
             * Format: uint32
             * @description Maximum number of model calls in a turn: 10.
             */
            max_turns: number;
            /**
             * Format: uint32
             * @description Number of the model call: 2 or more.
             */
            turn: number;
            /** @constant */
            type: "turn_start";
        } | {
            /**
             * Format: uint
             * @description Index of the block in its reply, from 0.
             */
            block: number;
            /**
             * Format: uint32
             * @description Number of the model call in the turn, from 1.
             */
            model_call: number;
            /** @constant */
            type: "text_start";
        } | {
            /**
             * Format: uint
             * @description Index of the block in its reply, from 0.
             */
            block: number;
            /**
             * Format: uint32
             * @description Number of the model call in the turn, from 1.
             */
            model_call: number;
            /** @description Text to append to the block; never empty. */
            text: string;
            /** @constant */
            type: "text_delta";
        } | {
            /**
             * Format: uint
             * @description Index of the block in its reply, from 0.
             */
            block: number;
            /**
             * Format: uint32
             * @description Number of the model call in the turn, from 1.
             */
            model_call: number;
            /** @constant */
            type: "content_block_stop";
        } | {
            /**
             * Format: uint
             * @description Index of the block in its reply, from 0.
             */
            block: number;
            /**
             * Format: uint32
             * @description Number of the model call in the turn, from 1.
             */
            model_call: number;
            /** @description The model's name for the call: the same in later events about it. */
            tool_id: string;
            /** @description Function that it calls. */
            tool_name: string;
            /** @constant */
            type: "tool_start";
        } | {
            /**
             * Format: uint32
             * @description Number of the failed attempt, from 1.
             */
            attempt: number;
            /** @description Cause, in a sentence for people. */
            error: string;
            /**
             * Format: uint32
             * @description Number of the model call in the turn, from 1.
             */
            model_call: number;
            /** @constant */
            type: "attempt_failed";
        } | {
            /** @description The call as `GET …/calls/{call}` shows it. */
            call: components["schemas"]["Call"];
            /** @description Effects of a confirmation. Absent once the call has started or ended. */
            confirmation?: components["schemas"]["Confirmation"] | null;
            /** @description The `tool_id` of `tool_start`; absent if the model gave none. */
            tool_id?: string | null;
            /** @constant */
            type: "tool_confirmation";
        } | {
            /** @description The call. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description The person who decided: often the one who asked. */
            decided_by: components["schemas"]["Actor"];
            /** @description `confirmed` or `denied`. */
            decision: components["schemas"]["CallState"];
            /** @description Reason of a denial, if any: the assistant reads it. */
            reason?: string;
            /** @constant */
            type: "tool_decision";
        } | {
            /** @description Call id, for `…/calls/{call}`. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description The `tool_id` of `tool_start`; absent if the model gave none. */
            tool_id?: string | null;
            /** @description All of its arguments. */
            tool_input: components["schemas"]["AnyObject"];
            /** @description Function that runs. */
            tool_name: string;
            /** @constant */
            type: "tool_execute";
        } | {
            /** @description The slow call. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description Notice, a sentence for people. */
            message: string;
            /** @description Function that runs. */
            tool_name: string;
            /** @constant */
            type: "tool_update";
        } | {
            /** @description The call that ended. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description True if the call failed, was refused, or has an unknown outcome. */
            is_error: boolean;
            /** @description Text that the model reads: the tool's answer, or the reason why there is none. */
            result: string;
            /** @description The `tool_id` of `tool_start`; absent if the model gave none. */
            tool_id?: string | null;
            /** @description Function that was called. */
            tool_name: string;
            /** @constant */
            type: "tool_result";
        } | {
            /** @description Stop reason: `end_turn`, `max_turns`, `max_tokens`, `refusal` or `cancelled`. */
            stop_reason: string;
            /** @constant */
            type: "done";
        } | {
            /** @description Cause, in a sentence for people. */
            error: string;
            /** @constant */
            type: "error";
        };
        /** @description A name that several cells define. */
        ClashReport: {
            /** @description The cells that define the name, in page order. */
            cells: components["schemas"]["CellId"][];
            /** @description The name. */
            name: string;
        };
        /** @description A column of a table. */
        Column: {
            /** @description Unquoted name; SQL may need quotes around it. */
            name: string;
            /** @description True if the column may hold NULL. */
            nullable: boolean;
            /** @description Type as the database names it, at most 200 characters. Empty: SQLite has columns without a type. */
            type: string;
        };
        /** @description Summary of a column. Values that make no sense for its type, or take too long to compute, are absent. */
        ColumnSummary: {
            /** @description The column. */
            column: components["schemas"]["TableColumn"];
            /**
             * Format: uint64
             * @description Number of distinct values.
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
             * @description Number of rows without a value.
             */
            missing: number;
            /** @description The first, second and third quartile. */
            quartiles?: components["schemas"]["AnyJson"][];
            /**
             * Format: uint64
             * @description Number of rows of the table.
             */
            rows: number;
            /** @description The sample standard deviation. */
            std?: components["schemas"]["AnyJson"] | null;
            /** @description The most frequent values, at most 5. */
            top?: components["schemas"]["ValueCount"][];
        };
        /** @description Id of a command. The client chooses it; a command that is repeated with the same id is applied once. */
        CommandId: string;
        /** @description A comment in a thread. */
        Comment: {
            /** @description The actor that posted the comment. */
            author: components["schemas"]["Actor"];
            /** @description Named by CommentPosted. */
            comment_id: components["schemas"]["CommentId"];
            /**
             * Format: uint64
             * @description Time of the author's last change, in milliseconds since 1970. Absent: never changed.
             */
            edited_at?: number | null;
            /** @description Accounts that the comment mentions, sorted. */
            mentions?: components["schemas"]["UserId"][];
            /**
             * Format: uint64
             * @description Time of posting, in milliseconds since 1970.
             */
            posted_at: number;
            /** @description The comment's text, as Markdown. */
            text: string;
        };
        /** @description Id of a comment in a thread. */
        CommentId: string;
        /** @description A cell, or a range of its text. */
        CommentPlace: {
            /**
             * Format: uint64
             * @description The version of the notebook to whose text the range refers; later edits move the range. Absent: the server's present text.
             */
            base?: number | null;
            /** @description A live cell (`cell_deleted` for one in the trash). */
            cell_id: components["schemas"]["CellId"];
            /** @description `[start, end]` in the cell's source, in UTF-16 code units; not empty for a new thread. Absent: the whole cell. */
            range?: components["schemas"]["TextRange"] | null;
        };
        /** @description Text of a comment. */
        CommentText: {
            /**
             * @description Ids of mentioned accounts; at most 50. A mention grants no right.
             * @default []
             */
            mentions?: components["schemas"]["UserId"][];
            /** @description Markdown, 1 to 10,000 characters. */
            text: string;
        };
        /** @description Differences between two runs. */
        Comparison: {
            /** @description The older run by default, without outputs. */
            left: components["schemas"]["Run"];
            /** @description Diff of the outputs' text, from left to right. */
            output_diff: string;
            /** @description The other run, without outputs. */
            right: components["schemas"]["Run"];
            /** @description True if both have the same outputs. Large parts are compared by hash; the execution count is ignored. */
            same_outputs: boolean;
            /** @description True if both ran exactly the same text. */
            same_source: boolean;
            /** @description True if both have the same final status (`ok`, `error`, `cancelled` …). */
            same_status: boolean;
            /** @description Diff of the sources, from left to right; empty if they are the same. */
            source_diff: string;
        };
        /** @description Completions for a piece of the code. */
        Completion: {
            /**
             * Format: uint32
             * @description Start of the piece that a match replaces, in UTF-16 code units of the code.
             */
            from: number;
            /** @description The kernel has more matches: they were left out. */
            is_cut?: boolean;
            /** @description Matches in the kernel's order; at most 500. */
            matches: components["schemas"]["CompletionMatch"][];
            /**
             * Format: uint32
             * @description End of the piece, exclusive.
             */
            to: number;
        };
        /** @description One completion. */
        CompletionMatch: {
            /** @description Signature of a function, as in `(a, b=1)`. */
            signature?: string | null;
            /** @description Text that replaces the piece. */
            text: string;
            /** @description Type of the completion as the kernel names it: `function`, `class`, `instance`, `module`, `keyword`, `param`, `path`, `magic` … */
            type?: string | null;
        };
        /** @description Effects of a confirmation. */
        Confirmation: {
            /** @description Effects in order of execution. */
            effects: components["schemas"]["Effect"][];
            /** @description Risk, in words for people. */
            risk: string;
            /** @description Action of the tool, in a few words. */
            summary: string;
            /** @description Reason why the call can no longer run: a confirmation closes it. Absent: it can run. */
            void?: string | null;
        };
        /** @description Calls that wait for your decision, in all notebooks that you may see. */
        Confirmations: {
            /** @description Calls, the longest waiting first; at most 500. */
            calls: components["schemas"]["WaitingCall"][];
            /** @description True: the list is incomplete; decide on some of these first. */
            is_cut?: boolean;
        };
        /** @description Tables and views of a connection, with their columns. Left out: system schemas, partitions, and tables that the account may not read. */
        ConnectionSchema: {
            /** @description `postgresql`, `sqlite` or `duckdb`. */
            kind: string;
            /** @description At most 1,000; tables that need no schema before their name come first. */
            tables: components["schemas"]["Table"][];
            /**
             * Format: uint64
             * @description Number of further tables that were left out.
             */
            tables_left_out?: number;
        };
        /** @description A conversation. Its messages are a projection of the log, not part of the document. */
        Conversation: {
            /** @description Flags of the messages that are pinned or skipped, by message. */
            flagged?: {
                [key: string]: components["schemas"]["MessageFlags"];
            };
            /** @description True: the conversation began with a call of an outside assistant, and no person has written in it. */
            is_outside?: boolean;
            /**
             * Format: uint64
             * @description Time of the start, in milliseconds since 1970.
             */
            started_at: number;
            /** @description The person who wrote the first message, or the outside assistant. */
            started_by: components["schemas"]["Actor"];
            /** @description The beginning of the first message, or the name of the outside assistant. 1 to 255 characters on one line. */
            title: string;
            /** @description The unfinished turn. Absent: none. */
            turn?: components["schemas"]["TurnId"] | null;
        };
        /** @description Id of a conversation with an assistant. */
        ConversationId: string;
        /** @description The conversations of a notebook, without their messages. */
        Conversations: {
            /** @description Conversations by id: title, starter, start time, unfinished turn. */
            conversations: {
                [key: string]: components["schemas"]["Conversation"];
            };
            /** @description Unfinished turns, by id. */
            turns: {
                [key: string]: components["schemas"]["Turn"];
            };
        };
        /** @description Id of a group of commands that is undone as one, such as a typing burst, a tool call or an import. */
        CorrelationId: string;
        /** @description Notebooks for which a token is valid: a list, or those of one workspace; without either, all. */
        Covers: {
            /** @description Notebook ids, at most 500. */
            notebooks?: components["schemas"]["NotebookId"][] | null;
            /** @description All notebooks that are in this workspace at the time of a request. */
            workspace?: components["schemas"]["WorkspaceId"] | null;
        };
        /** @description A created link, with its secret. */
        CreatedShareLink: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description The person who created the link. */
            created_by: components["schemas"]["UserId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: valid until revoked.
             */
            expires_at?: number | null;
            /** @description Link id: the subject of its entry in the notebook's access list, and the actor of its guests' events. */
            id: components["schemas"]["ShareLinkId"];
            /** @description Text that others see instead of a guest's name; may be empty. */
            label: string;
            /** @description The only notebook that it opens. */
            notebook: components["schemas"]["NotebookId"];
            /** @description Role when it was created; the notebook's access list has the current one. */
            role: components["schemas"]["Role"];
            /** @description The same token, for programs. */
            token: string;
            /** @description Link with the token after `#`, a part that browsers send to no server. Only this answer has it. */
            url: string;
        };
        /** @description A created account, and the invitation for its person. */
        CreatedUser: {
            /** @description Invitation for the person, who sends it to `POST /api/session` with a password. */
            invitation: components["schemas"]["OneTimeToken"];
            /** @description The account; it has no password until the invitation is used. */
            user: components["schemas"]["User"];
        };
        /** @description The document of one notebook at one version. */
        Document: {
            /** @description The access list, sorted by subject. */
            access: components["schemas"]["AccessEntry"][];
            /** @description True: the notebook can be read, exported and forked, but neither changed nor run. */
            archived?: boolean;
            /** @description The live cells by id. The trash is a projection of the log. */
            cells: {
                [key: string]: components["schemas"]["Cell"];
            };
            /** @description Conversations, without their messages, which are a projection of the log. */
            conversations?: {
                [key: string]: components["schemas"]["Conversation"];
            };
            /**
             * Format: uint64
             * @description Time of the first event, in milliseconds since 1970.
             * @default 0
             */
            created_at?: number;
            /** @description Executions that are unfinished, or the latest of a live cell. */
            executions: {
                [key: string]: components["schemas"]["Execution"];
            };
            /** @description Functions that kernels have registered as tools, by name; also those of ended kernels. */
            functions?: {
                [key: string]: components["schemas"]["RegisteredFunction"];
            };
            /** @description Grants that are not revoked. Expired ones may still be here: check `expires_at`. */
            grants?: {
                [key: string]: components["schemas"]["AssistantGrant"];
            };
            /** @description The last unrequested end or failed launch of a kernel. Absent: none since a kernel started. */
            kernel_notice?: components["schemas"]["KernelNotice"] | null;
            /** @description The kernel sessions that have not ended, also unclaimed ones. */
            kernels: {
                [key: string]: components["schemas"]["KernelSession"];
            };
            /** @description The latest execution of each live cell, whose outputs the cell shows. */
            latest: {
                [key: string]: components["schemas"]["ExecutionId"];
            };
            /** @description The notebook's metadata, as in nbformat. */
            metadata: components["schemas"]["AnyObject"];
            /** @description Names of versions, by version. */
            named_versions?: {
                [key: string]: string;
            };
            /** @description The notebook's id, which its creator's client has chosen. */
            notebook_id: components["schemas"]["NotebookId"];
            /** @description Cell ids in page order: by order key, then id. Derived from `cells`. */
            order: components["schemas"]["CellId"][];
            /** @description The policy: which tool calls of assistants need no confirmation. Absent: `guarded`. */
            policy?: components["schemas"]["Policy"];
            /** @description The setting that says which other cells a run of a cell also updates. Absent: `off`. */
            reactivity?: components["schemas"]["Reactivity"];
            /** @description Threads of comments, also resolved ones and those of cells in the trash. */
            threads?: {
                [key: string]: components["schemas"]["Thread"];
            };
            /** @description The title: 1 to 255 characters on one line; empty before the first event. */
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
             * @description Time of the last event, in milliseconds since 1970.
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
         * @description Kind of program with which a person uses the server.
         *
         *     `page`: The notebook's page, or another page of an allowed origin.
         *
         *     `terminal`: The command line.
         *
         *     `rest`: Another program that sends REST requests.
         *
         *     `socket`: Another program that uses a WebSocket.
         * @enum {string}
         */
        Door: "page" | "terminal" | "rest" | "socket";
        /** @description One effect of a call. */
        Effect: {
            /** @description Type of the new cell. */
            cell_type: components["schemas"]["CellType"];
            /** @constant */
            kind: "creates";
            /** @description Whole source of the new cell. */
            source: string;
        } | {
            /** @description The cell; its id stays. */
            cell: components["schemas"]["CellId"];
            /** @description Unified diff from the current source to the new one. If both together exceed 1 MiB: a note that they differ. */
            diff: string;
            /** @constant */
            kind: "changes";
        } | {
            /** @description The cell; it moves to the trash and can be restored. */
            cell: components["schemas"]["CellId"];
            /** @description True if outputs are deleted too. */
            has_outputs: boolean;
            /** @constant */
            kind: "deletes";
            /** @description Current source. */
            source: string;
        } | {
            /** @description The cell; its source is unchanged. */
            cell: components["schemas"]["CellId"];
            /** @constant */
            kind: "moves";
        } | {
            /** @description The cell; absent: a cell that the call creates. */
            cell?: components["schemas"]["CellId"] | null;
            /** @constant */
            kind: "runs";
            /** @description Code as sent to the kernel. */
            source: string;
        } | {
            /** @description The whole content, as text. */
            content: string;
            /** @constant */
            kind: "writes";
            /** @description Path in the tool's arguments; relative paths start at the kernel's working folder. */
            path: string;
            /** @description SHA-256 of the file that is overwritten. */
            replaces?: string | null;
        } | {
            /** @constant */
            kind: "does";
            /** @description A sentence for people, in English. */
            what: string;
        };
        /**
         * @description Cause of an execution's end other than its own result.
         *
         *     `requested`: The run was cancelled before it began.
         *     In words: somebody cancelled it.
         *
         *     `interrupted`: The run was cancelled while it ran, or its kernel was interrupted.
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
         *     `given_up`: The run was given up, for example because its agent was unreachable.
         *     In words: somebody gave it up.
         * @enum {string}
         */
        EndCause: "requested" | "interrupted" | "timed_out" | "cell_deleted" | "kernel_not_started" | "kernel_restarted" | "kernel_shut_down" | "kernel_died" | "agent_stopped" | "agent_lost" | "given_up";
        /** @description Page of the record, oldest event first. */
        EventPage: {
            /** @description Events with all hashed fields: see `protocol/README.md`, The record. */
            events: unknown[];
            /** @description The notebook's last version and its hash now. */
            head: unknown;
            /**
             * Format: uint64
             * @description Value of `after` for the next page; absent on the last page.
             */
            next?: number | null;
        };
        /** @description One execution: the exact source that it runs, its outputs, and its end. */
        Execution: {
            /** @description The only agent that may report on the run. Absent: the run is not assigned. */
            agent?: components["schemas"]["AgentId"] | null;
            /** @description The earlier run that did not succeed, so that this one is blocked. Absent: the run is not blocked. */
            blocked_by?: components["schemas"]["ExecutionId"] | null;
            /** @description True: a cancel was requested, and the agent interrupts the run. */
            cancel_requested?: boolean;
            /** @description The cause of the execution. */
            cause: components["schemas"]["OpenExecutionCause"];
            /** @description True after `clear_output(wait=True)`: the next output replaces all outputs. */
            clear_on_next_output?: boolean;
            /** @description The correlation id of the request. Runs of one batch have the same. */
            correlation_id: components["schemas"]["CorrelationId"];
            /** @description The cause if the run was cancelled, lost, interrupted or timed out. Absent otherwise. */
            end_cause?: components["schemas"]["OpenEndCause"] | null;
            /**
             * Format: uint64
             * @description Time of the end, in milliseconds since 1970. Absent: the run has not ended.
             */
            ended_at?: number | null;
            /**
             * Format: uint64
             * @description The number in `In [3]:`. Absent: the kernel gave none.
             */
            execution_count?: number | null;
            /**
             * Format: uint64
             * @description The fence of the session to which the run is assigned. Reports on the run must carry it. Absent: the run is not assigned.
             */
            fence?: number | null;
            /**
             * @description The kernel session of the run. Absent for imported runs, and while a run waits for a default kernel whose agent
             *     was away at the request.
             */
            kernel_session?: components["schemas"]["KernelSessionId"] | null;
            /** @description A sentence for people about an unusual end. Absent: none. */
            notice?: string | null;
            /**
             * Format: uint64
             * @description The highest number of the agent's reports in the log. 0: none.
             * @default 0
             */
            output_seq?: number;
            /** @description The outputs that are shown, in order. */
            outputs?: components["schemas"]["Output"][];
            /** @description The open request for input. Absent: none. */
            pending_input?: components["schemas"]["PendingInput"] | null;
            /**
             * Format: uint64
             * @description Time of the request, in milliseconds since 1970.
             */
            requested_at: number;
            /** @description The requester. For an imported run: the actor that imported it. */
            requested_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description The version of the request. Queued runs are executed in this order.
             */
            requested_version: number;
            /**
             * Format: uint64
             * @description Time at which the kernel began the run, in milliseconds since 1970. Absent: it has not begun.
             */
            started_at?: number | null;
            /** @description The execution's status. */
            status: components["schemas"]["ExecutionStatus"];
            /** @description True: if another run of the same correlation does not succeed while this one is queued, this one is blocked. */
            stop_on_error?: boolean;
            /** @description The exact code that the execution runs. */
            subject: components["schemas"]["ExecutionSubject"];
            /**
             * Format: uint64
             * @description Running time in milliseconds after which the kernel is interrupted. Absent: no limit.
             */
            timeout_ms?: number | null;
        };
        /** @description Cause of an execution. */
        ExecutionCause: "requested" | "imported" | "functions_restored" | {
            dependency: components["schemas"]["ExecutionCauseDependency"];
        };
        ExecutionCauseDependency: {
            /** @description The requested run of the same plan. Absent: the run follows the deletion of a cell. */
            of?: components["schemas"]["ExecutionId"] | null;
        };
        /** @description Id of one execution of some source on a kernel. */
        ExecutionId: string;
        /**
         * @description Status of an execution. The last five values are ends.
         *
         *     `queued`: The run waits for a kernel, or for earlier runs.
         *
         *     `assigned`: The run is assigned to a kernel session, and the kernel has not begun it.
         *
         *     `running`: The kernel has begun the run.
         *
         *     `ok`: The run ended without an error.
         *
         *     `error`: The run failed, was interrupted, or timed out.
         *
         *     `cancelled`: The run was cancelled before it began, or ended early on request.
         *
         *     `blocked`: The run never began, because an earlier run did not succeed.
         *
         *     `lost`: The run ended without a result, or its end is not known.
         * @enum {string}
         */
        ExecutionStatus: "queued" | "assigned" | "running" | "ok" | "error" | "cancelled" | "blocked" | "lost";
        /** @description The exact code of an execution. */
        ExecutionSubject: {
            /** @description The cell, which may have been deleted since. */
            cell_id: components["schemas"]["CellId"];
            /**
             * Format: uint64
             * @description The `cell_version` that had this source.
             */
            cell_version: number;
            /** @constant */
            kind: "cell";
            /** @description The complete text to run. Later edits of the cell do not change it. */
            source: string;
        } | {
            /** @constant */
            kind: "scratch";
            /** @description The purpose of the run, for people. */
            purpose: string;
            /** @description The complete text to run. */
            source: string;
        } | {
            /** @description The tool call that this run belongs to. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description SHA-256 of the tool's code. An agent with other code refuses the run. */
            digest: components["schemas"]["Hash"];
            /** @constant */
            kind: "tool";
            /** @description The tool's name; `call_function` for functions of users. */
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
        /** @description An entry of a folder. */
        FileEntry: {
            /** @description Kind of the entry. For a link: kind of its target. */
            kind: components["schemas"]["FileKind"];
            /**
             * Format: uint64
             * @description Time of the last change of its content by the clock of that machine, in milliseconds since 1970.
             */
            modified_at?: number | null;
            /** @description Name without the folder. */
            name: string;
            /**
             * Format: uint64
             * @description Size in bytes; only for files.
             */
            size_bytes?: number | null;
        };
        /**
         * @description Kind of a folder's entry.
         *
         *     `file`: A file, which can be downloaded.
         *
         *     `folder`: A folder, which can be listed.
         *
         *     `other`: Not accessible: a device, a pipe, a link that leads out of the folder or nowhere, or a name that is not text.
         * @enum {string}
         */
        FileKind: "file" | "folder" | "other";
        /** @description Page of a folder, with its runtime agent. */
        FileList: {
            /** @description Runtime agent on whose machine the folder is. */
            agent: components["schemas"]["AgentId"];
            /** @description Display name of the agent. */
            agent_name: string;
            /**
             * @description True if the runtime agent can move files and has a trash.
             * @default false
             */
            can_change?: boolean;
            /** @description Entries by name. */
            files: components["schemas"]["FileEntry"][];
            /** @description True: the folder has more entries than are read. The others are not listed, but found by name. */
            is_cut?: boolean;
            /**
             * Format: uint64
             * @description Maximum size of a file in a transfer, in bytes.
             */
            max_file_bytes: number;
            /** @description Name to pass as `after` for the next page; absent on the last page. */
            next?: string | null;
            /** @description The folder, below the working folder; empty: that folder itself. */
            path: string;
        };
        /** @description Trash of a folder, with its runtime agent. */
        FileTrash: {
            /** @description Runtime agent on whose machine the folder is. */
            agent: components["schemas"]["AgentId"];
            /** @description Display name of the agent. */
            agent_name: string;
            /**
             * Format: uint32
             * @description Number of all entries.
             */
            count: number;
            /** @description Entries, the last removed first. */
            files: components["schemas"]["TrashedFile"][];
            /**
             * Format: uint32
             * @description Number of days after which entries are deleted permanently.
             */
            kept_days: number;
            /**
             * Format: uint64
             * @description Maximum size of all entries, in bytes: beyond it the oldest are deleted permanently; the last one stays.
             */
            max_bytes: number;
            /**
             * Format: uint64
             * @description Size of all entries, in bytes.
             */
            size_bytes: number;
        };
        /** @description A new notebook, copied from a version of another; you are its owner. Needs the right to read the other. */
        Fork: {
            /**
             * @description Id of the new notebook; absent: chosen by the server.
             * @default null
             */
            id?: components["schemas"]["NotebookId"] | null;
            /**
             * @description Title; absent: that of the original, with "(fork)".
             * @default null
             */
            title?: string | null;
            /**
             * Format: uint64
             * @description Version to copy; absent: the current one.
             * @default null
             */
            version?: number | null;
            /**
             * @description True: outputs are not copied.
             * @default false
             */
            without_outputs?: boolean;
        };
        /** @description A person found by a search. */
        FoundPerson: {
            /** @description User id as in the actor of events. */
            id: components["schemas"]["UserId"];
            /** @description Login, unique. */
            login?: string | null;
            /** @description Display name, chosen by the person: not unique. */
            name: string;
        };
        /** @description Excerpt of a source with the search words. */
        FoundText: {
            /** @description The cell that contains most of the words. */
            cell_id: components["schemas"]["CellId"];
            /** @description Positions of words in `text`: start and end (exclusive), in Unicode code points. */
            marks: [
                number,
                number
            ][];
            /** @description The line, or a part of at most 160 characters around the first word. */
            text: string;
        };
        /** @description Arguments and options of a call. */
        FunctionArguments: {
            /**
             * @description Arguments that match the function's schema.
             * @default {}
             */
            arguments?: components["schemas"]["AnyObject"];
            /**
             * @description Confirmation; a destructive function is called only if this is true.
             * @default false
             */
            confirmed?: boolean;
            /**
             * Format: uint64
             * @description Timeout in milliseconds, after which the call is interrupted; absent: none.
             * @default null
             */
            timeout_ms?: number | null;
        };
        /** @description Functions of a notebook. */
        Functions: {
            /** @description Functions by name: callable ones, and those without a running kernel. */
            functions: components["schemas"]["NotebookFunction"][];
        };
        /** @description Decision at the request of a call: it passes, or waits for a person. */
        Gate: {
            /** @constant */
            kind: "passes";
        } | {
            /** @constant */
            kind: "waits_for_person";
            /**
             * Format: uint64
             * @description Time at which the call expires, in milliseconds since 1970.
             */
            until: number;
        };
        /** @description Id of a grant: a person's permission, given in advance, for tool calls of one conversation. */
        GrantId: string;
        /** @description Grants of a notebook that are valid now. */
        Grants: {
            /** @description Grants by id: conversation, functions (empty: every function), `expires_at`, issuer. */
            grants: {
                [key: string]: components["schemas"]["AssistantGrant"];
            };
        };
        /** @description Name of a guest: the label of the link, else the name that the guest entered. */
        Guest: {
            /** @description Id of the link, as in the actor of events. */
            id: components["schemas"]["ShareLinkId"];
            /** @description Name; not unique. */
            name: string;
        };
        Hash: string;
        /** @description An identity at a provider, linked to an account. */
        Identity: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description Address that the provider had verified when it was linked. For display only: accounts are not searched by it. */
            email?: string | null;
            /** @description Id, for unlinking it. */
            id: string;
            /** @description URL of the provider. */
            issuer: string;
            /** @description The person's id at the provider. */
            subject: string;
        };
        /** @description Begins to link an identity at the provider to your account. */
        IdentityBegin: {
            /** @description Your password, if you have one. */
            current?: string | null;
            /** @description Public key, as in `SignIn.key`. */
            key: string;
        };
        /** @description An imported notebook; you are its owner. */
        ImportAnswer: {
            /** @description Id of the notebook: `id` of the query, else derived from `Idempotency-Key`, else new. */
            notebook: components["schemas"]["NotebookId"];
            /** @description Notices of repairs, conversions and entries put aside, each with a code and a sentence. */
            notices: components["schemas"]["Notice"][];
            /** @description Outcome of the import; `cells` has the ids of the cells from top to bottom. */
            outcome: components["schemas"]["Outcome"];
            /** @description Title: as requested, else from the file's metadata or name, else `Untitled`. */
            title: string;
            /**
             * Format: uint64
             * @description The notebook's version at which the whole file is in the log.
             */
            version: number;
        };
        /** @description The answer to a question of running code, as Python's `input()` asks it. */
        InputValue: {
            /** @description Answer without the line break at its end; at most 64 KiB. A password is not recorded. */
            value: string;
        };
        /** @description Documentation of a name. */
        Inspection: {
            /** @description The description by MIME type: `text/plain` (with ANSI colours), `text/html`, `text/markdown`; each at most 64 KiB. */
            data?: {
                [key: string]: string;
            };
            /** @description False: the kernel does not know the name. */
            found: boolean;
            /** @description The description was longer: its end was left out. */
            is_cut?: boolean;
        };
        /** @description Id of one life of a server process, which holds leases of notebooks and makes claims. */
        InstanceId: string;
        /** @description The issued grant. */
        IssuedGrant: {
            /** @description Grant id, for `DELETE …/grants/{grant}`. */
            id: components["schemas"]["GrantId"];
            /**
             * Format: uint64
             * @description The notebook's version after the grant.
             */
            version: number;
        };
        /** @description A new token; only this answer has its secret. */
        IssuedToken: {
            /** @description Agent id as in the actor of events; only for agents. */
            agent?: components["schemas"]["AgentId"] | null;
            /** @description Notebooks for which it is valid. */
            covers: components["schemas"]["Covers"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description The person who created it, and may revoke it. */
            created_by: components["schemas"]["UserId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: valid until revoked.
             */
            expires_at?: number | null;
            /** @description Token id, for `DELETE /api/tokens/{token}`. */
            id: components["schemas"]["TokenId"];
            /** @description `session`, `api` or `agent`. */
            kind: string;
            /** @description Label, up to 100 characters; may be empty. For an agent: its name. */
            label: string;
            /**
             * Format: uint64
             * @description Time of the last use, up to ten minutes late; milliseconds since 1970.
             */
            last_used_at?: number | null;
            /** @description Scopes as requested when it was created. */
            scopes: components["schemas"]["Scope"][];
            /** @description The secret, to be sent as `Authorization: Bearer <token>`. */
            token: string;
        };
        /**
         * @description Cause of the end of a kernel session, or of a failed launch.
         *
         *     `shut_down`: A shutdown was requested.
         *     In words: it was shut down.
         *
         *     `restarted`: In words: it was restarted.
         *
         *     `idle`: The kernel had no runs for too long.
         *     In words: it had no work.
         *
         *     `died`: In words: the kernel died.
         *
         *     `agent_stopped`: In words: its runtime agent was stopped.
         *
         *     `agent_lost`: The agent was killed, was away for too long, or came back without this kernel.
         *     In words: its runtime agent is gone.
         *
         *     `given_up`: The kernel was given up, because its agent was unreachable.
         *     In words: somebody gave it up.
         *
         *     `not_installed`: The program that the kernelspec names is not on the agent's machine.
         *     In words: the kernel is not installed.
         *
         *     `cannot_start`: The kernel could not be started on the agent's machine.
         *     In words: the kernel cannot be started.
         *
         *     `no_answer`: The kernel started and did not answer in time.
         *     In words: the kernel did not answer.
         * @enum {string}
         */
        KernelCause: "shut_down" | "restarted" | "idle" | "died" | "agent_stopped" | "agent_lost" | "given_up" | "not_installed" | "cannot_start" | "no_answer";
        /** @description The last unrequested end or failed launch of a kernel, for people. The next start of a kernel removes it. */
        KernelNotice: {
            /** @description The cause of the end or of the failed launch. */
            cause: components["schemas"]["OpenKernelCause"];
            /** @description More about the cause, in a sentence for people. Absent: the cause is all that is known. */
            detail?: string | null;
            /** @description The session that ended or failed to start. */
            kernel_session: components["schemas"]["KernelSessionId"];
            /**
             * Format: uint64
             * @description The version of the event of the end or failure.
             */
            version: number;
        };
        /**
         * @description Phase of a kernel session that has not ended.
         *
         *     `requested`: The session waits for an agent to claim it.
         *
         *     `claimed`: An agent is starting the kernel.
         *
         *     `started`: The kernel has started.
         *
         *     `ending`: A shutdown or restart was requested.
         * @enum {string}
         */
        KernelPhase: "requested" | "claimed" | "started" | "ending";
        /** @description Kernels of a notebook, and the kernelspecs available to it. */
        Kernels: {
            /** @description Databases that SQL cells on these agents can name. */
            connections?: components["schemas"]["OfferedConnection"][];
            /** @description Kernels by session: kernelspec, phase, agent. */
            kernels: {
                [key: string]: components["schemas"]["KernelSession"];
            };
            /** @description Kernelspecs that the connected runtime agents can launch for this notebook. */
            kernelspecs: components["schemas"]["OfferedKernelspec"][];
            /** @description The most recent problem. */
            notice?: components["schemas"]["KernelNotice"] | null;
            /** @description Reachability and activity of each kernel. */
            status: components["schemas"]["KernelStatus"][];
        };
        /** @description One life of a kernel. */
        KernelSession: {
            /** @description The runtime agent that has claimed the session. Absent: none has. */
            agent?: components["schemas"]["AgentId"] | null;
            /**
             * Format: uint64
             * @description The version of KernelSessionStarted, which reports on the session must carry. Absent: the kernel has not started.
             */
            fence?: number | null;
            /** @description The kernelspec's name, such as `python3`. */
            kernelspec: string;
            /** @description The `language_info` of the kernel's `kernel_info_reply`. Absent: the kernel has not started. */
            language_info?: components["schemas"]["AnyObject"];
            /** @description The session's phase. Code runs only in phase `started`. */
            phase: components["schemas"]["KernelPhase"];
            /**
             * Format: uint64
             * @description The version of the launch request; a restart keeps it. The session with the lowest version is the default kernel.
             */
            requested_version: number;
            /** @description The isolation of the kernel's code, from KernelSessionStarted. Absent: no isolation is known. */
            sandbox?: components["schemas"]["AnyObject"];
        };
        /** @description Id of a kernel session: one life of a kernel, from launch to end. A restart begins a new session. */
        KernelSessionId: string;
        /** @description Status of a kernel that is not in the log. */
        KernelStatus: {
            /** @description Display name of its runtime agent. Absent: the agent has not connected since the server loaded the notebook. */
            agent_name?: string | null;
            /** @description True if its agent reports an execution. False while it is unreachable. */
            busy: boolean;
            /** @description The session, as in the state's `kernels`. */
            kernel_session: components["schemas"]["KernelSessionId"];
            /** @description False: its runtime agent has been silent for some seconds. */
            reachable: boolean;
            /**
             * Format: uint64
             * @description Time since when it is unreachable, in milliseconds since 1970; absent while it is reachable.
             */
            unreachable_since?: number | null;
            /** @description Memory and CPU use, a few seconds old. Absent: not measured, or unreachable. */
            usage?: components["schemas"]["KernelUsage"] | null;
        };
        /** @description Memory and CPU use of a kernel. */
        KernelUsage: {
            /**
             * Format: uint32
             * @description CPU use in percent of one processor: 200 means two processors fully used. Absent after the first measurement, which has no interval.
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
             * @description Kernelspec name; absent: the notebook's, else `python3`.
             * @default null
             */
            kernelspec?: string | null;
        };
        /**
         * @description A limit that a rejection names.
         *
         *     `source`: A cell's source, code of no cell, or the arguments of a kernel tool.
         *
         *     `metadata`: Metadata of a cell or of the notebook, as JSON.
         *
         *     `attachments`: All attachments of a cell together, as JSON.
         *
         *     `title`: A title or a name.
         *
         *     `cells`: Live cells of a notebook.
         *
         *     `batch_commands`: Parts of one `Batch`.
         *
         *     `queued_executions`: Runs of a notebook that have not ended.
         *
         *     `kernels`: Kernels of a notebook.
         *
         *     `report_outputs`: All outputs of one report.
         *
         *     `run_outputs`: All recorded outputs of one run.
         *
         *     `recorded_outputs`: All outputs of one run that an imported file brings.
         *
         *     `agent_outputs`: Outputs of a runtime agent in an hour.
         *
         *     `input`: An answer to one input request of running code.
         *
         *     `widgets`: Saved state of a notebook's widgets.
         *
         *     `access_entries`: Entries of an access list.
         *
         *     `named_versions`: Named versions of a notebook.
         *
         *     `functions`: Functions that a kernel registers.
         *
         *     `conversations`: Conversations of a notebook.
         *
         *     `outside_conversations`: Outside assistants at work in a notebook.
         *
         *     `message`: All blocks of a message together.
         *
         *     `question_attachments`: Attachments of one question to an assistant.
         *
         *     `picture`: A picture of a question.
         *
         *     `attached_text`: A text file of a question.
         *
         *     `flagged_messages`: Pinned or skipped messages of one conversation.
         *
         *     `waiting_tool_calls`: Tool calls of a notebook that wait.
         *
         *     `tool_result`: Result of a tool.
         *
         *     `saved_data`: Content that one `save_data` writes.
         *
         *     `grants`: Grants of a notebook.
         *
         *     `threads`: Threads of comments of a notebook.
         *
         *     `thread_comments`: Comments of a thread.
         *
         *     `comments`: Comments of a notebook.
         *
         *     `comment`: A comment.
         *
         *     `comment_text`: Texts of all comments of a notebook.
         *
         *     `mentions`: People whom a comment mentions.
         *
         *     `named_subjects`: People, links and agents whom one command names.
         *
         *     `notebook_state`: State of a notebook, as JSON.
         *
         *     `account_notebooks`: Notebooks of a person or workspace.
         *
         *     `account_log`: Records of the notebooks of a person or workspace.
         *
         *     `account_blobs`: Large outputs of the notebooks of a person or workspace.
         *
         *     `blob`: One blob.
         *
         *     `frame`: A frame of the socket.
         *
         *     `request`: The body of a request.
         *
         *     `import`: An imported file.
         * @enum {string}
         */
        LimitName: "source" | "metadata" | "attachments" | "title" | "cells" | "batch_commands" | "queued_executions" | "kernels" | "report_outputs" | "run_outputs" | "recorded_outputs" | "agent_outputs" | "input" | "widgets" | "access_entries" | "named_versions" | "functions" | "conversations" | "outside_conversations" | "message" | "question_attachments" | "picture" | "attached_text" | "flagged_messages" | "waiting_tool_calls" | "tool_result" | "saved_data" | "grants" | "threads" | "thread_comments" | "comments" | "comment" | "comment_text" | "mentions" | "named_subjects" | "notebook_state" | "account_notebooks" | "account_log" | "account_blobs" | "blob" | "frame" | "request" | "import";
        /**
         * @description Unit of a limit.
         *
         *     `bytes`: Bytes; of texts as UTF-8.
         *
         *     `characters`: Unicode characters.
         *
         *     `count`: A number of things.
         * @enum {string}
         */
        LimitUnit: "bytes" | "characters" | "count";
        /** @description A dependency: another cell, and the names that it is about. */
        LinkReport: {
            /** @description The other cell. */
            cell_id: components["schemas"]["CellId"];
            /** @description One name or more. For a cell that may define any name (`from m import *`): the names that are read from it. */
            names: string[];
        };
        /**
         * @description The order of the list.
         *
         *     `changed`: The last changed first.
         *
         *     `title`: By title, ignoring case.
         *
         *     `created`: The last created first.
         * @enum {string}
         */
        ListOrder: "changed" | "title" | "created";
        /** @description Holder of the token, and the token's rights. */
        Me: {
            /** @description Actor of the events that you cause. */
            actor: components["schemas"]["Actor"];
            /**
             * @description True: tokens that can be stored on a disk lack the scopes `confirm`, `manage` and `admin`. `POST /api/session` with `fresh` gives a
             *     session of 15 minutes that has them.
             */
            asks_again?: boolean;
            /** @description Notebooks that the token reaches. */
            covers: components["schemas"]["Covers"];
            /**
             * Format: uint64
             * @description Expiry in milliseconds since 1970; absent: valid until revoked.
             */
            expires_at?: number | null;
            /** @description `session`, `api`, `agent` or `share`. */
            kind: string;
            /** @description Display name of the person or agent; for a guest the link's label. */
            name: string;
            /** @description Scopes that are valid now: the token's scopes, as far as the account still holds them. */
            scopes: components["schemas"]["Scope"][];
            /** @description Token id, for `DELETE /api/tokens/{token}`; not a secret. */
            token_id: components["schemas"]["TokenId"];
            /** @description The account; absent for agents and guests. */
            user?: components["schemas"]["User"] | null;
            /** @description Workspaces of which you are a member. */
            workspaces: components["schemas"]["MyWorkspace"][];
        };
        /** @description Means of a person's decision, as the server saw them. Later versions may add fields. */
        Means: {
            /** @description The kind of token: `session`, `api`, `share` … */
            credential: string;
            /** @description The kind of program, by its own account. */
            door: components["schemas"]["OpenDoor"];
            /** @description The owner's name for that session or token. Absent: none. */
            label?: string;
        };
        /** @description A member of a workspace. */
        Member: {
            /** @description Role in each of the workspace's notebooks, besides the notebook's access list. */
            role: components["schemas"]["Role"];
            /** @description The person; `GET /api/people/{user}` has the name. */
            user: components["schemas"]["UserId"];
        };
        /** @description Adds a member, or changes a member's role. For owners of the workspace. */
        MemberRole: {
            /** @description `viewer`, `commenter`, `runner`, `author`, `editor` or `owner`, in each of the workspace's notebooks. */
            role: components["schemas"]["Role"];
        };
        /** @description A message of a person, an assistant or tools. */
        Message: {
            /** @description Texts, tool calls and their results, resolved from other places of the record. */
            blocks: components["schemas"]["OpenMessageBlock"][];
            /** @description Message id, for `PUT …/messages/{message}/flags`. */
            id: components["schemas"]["MessageId"];
            /** @description True: the turn ended while this answer was being written. */
            is_partial?: boolean;
            /** @description True: always in the assistant's context. */
            pinned: boolean;
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            posted_at: number;
            /** @description The person for a message of a person, else the assistant. */
            posted_by: components["schemas"]["Actor"];
            /** @description `user`, `assistant` or `tool`. */
            role: components["schemas"]["OpenMessageRole"];
            /** @description True: never in the assistant's context. */
            skipped: boolean;
            /** @description Turn of the message. */
            turn_id?: components["schemas"]["TurnId"] | null;
            /**
             * Format: uint64
             * @description The version of its MessagePosted event: `before` of the next page.
             */
            version: number;
        };
        /** @description One block of a message. In JSON: an object whose only key is the block's kind. */
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
            /** @description The provider's data, unchanged. */
            data: components["schemas"]["AnyJson"];
            /** @description The provider that sent the data. Other providers do not get it. */
            provider: string;
        };
        MessageBlockText: {
            /** @description Markdown. */
            text: string;
        };
        MessageBlockToolCall: {
            /**
             * @description The arguments as the model wrote them; not always valid JSON. ToolCallRequested has them too, but this
             *     message is recorded before its calls are requested.
             */
            arguments: string;
            /** @description The call's id, as in ToolCallRequested. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description Further data of the provider, which it must get back unchanged. Absent: none. */
            extra?: string | null;
            /** @description The name of the tool or function. */
            function: string;
            /** @description The model's own name for the call; its result carries it too. */
            provider_id: string;
        };
        MessageBlockToolResult: {
            /** @description The call's id, as in ToolCallRequested. */
            call_id: components["schemas"]["ToolCallId"];
            /** @description True: the call failed, was refused, or its outcome is unknown. */
            is_error?: boolean;
            /** @description The model's own name for the call. */
            provider_id: string;
            /** @description The result. Absent: the same text as `result` in the call's ToolCallExecuted. */
            text?: string | null;
        };
        /** @description Flags of a message for the assistant's context. */
        MessageFlags: {
            /** @description True: the message is always in the assistant's context. */
            pinned?: boolean;
            /** @description True: the message is never in the assistant's context. */
            skipped?: boolean;
        };
        /** @description Id of a message in a conversation. */
        MessageId: string;
        /** @description Messages of one conversation, the last posted first. */
        MessagePage: {
            /** @description Messages, at most `limit`. */
            messages: components["schemas"]["Message"][];
            /**
             * Format: uint64
             * @description Value of `before` for the next page; absent when there are no older messages.
             */
            next?: number | null;
        };
        /**
         * @description Author of a message.
         *
         *     `user`: A person.
         *
         *     `assistant`: The assistant: the message has the model's text and its tool calls.
         *
         *     `tool`: Tools: the message has results of tool calls.
         * @enum {string}
         */
        MessageRole: "user" | "assistant" | "tool";
        /** @description A model provider in the server's settings. */
        Model: {
            /** @description The provider's default model. */
            model: string;
            /** @description Provider name, as in records of calls. */
            provider: string;
        };
        /** @description Models that assistants of this server use. */
        Models: {
            /** @description The first is the default. Empty: the server has no assistant. */
            models: components["schemas"]["Model"][];
        };
        /** @description A moved file, folder or link. */
        MovedFile: {
            /** @description Former path, below the working folder. */
            from: string;
            /** @description Kind of the entry. */
            kind: components["schemas"]["FileKind"];
            /** @description New path, below the working folder. */
            path: string;
        };
        /** @description New path of a file or folder. */
        MoveFile: {
            /** @description Path below the working folder. */
            from: string;
            /** @description Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent. */
            kernel?: components["schemas"]["KernelSessionId"] | null;
            /** @description New path below the working folder. Missing folders are created; an existing file is never replaced (`file_exists`). */
            to: string;
        };
        /** @description A workspace of which you are a member. */
        MyWorkspace: {
            /** @description Workspace id; `GET /api/workspaces` has its name. */
            id: components["schemas"]["WorkspaceId"];
            /** @description Your role in each of its notebooks. */
            role: components["schemas"]["Role"];
        };
        /** @description A token to create for a runtime agent. */
        NewAgent: {
            /**
             * @description Notebooks that you may share, or a workspace that you own. Without either: every notebook of the server, which only an administrator
             *     can grant.
             * @default {}
             */
            covers?: components["schemas"]["Covers"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: valid until revoked.
             */
            expires_at?: number | null;
            /** @description Name in the list of agents, as in "GPU machine". */
            name: string;
        };
        /** @description A token to create for a program that acts for you. Requires a session; you have at most 500. */
        NewApiToken: {
            /**
             * @description Notebooks for which it is valid; absent: all that you may see.
             * @default {}
             */
            covers?: components["schemas"]["Covers"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: valid until revoked.
             */
            expires_at?: number | null;
            /**
             * @description Label in the list of tokens.
             * @default
             */
            label?: string;
            /**
             * @description Subset of `read`, `edit`, `run`, `confirm`, `manage`, `admin`; `read` always. `confirm` lets a program decide on tool calls in your
             *     name.
             */
            scopes: components["schemas"]["Scope"][];
        };
        /** @description A cell to insert. Needs the right to edit. */
        NewCell: {
            /** @description MIME bundles by file name, as in nbformat; at most 16 MiB. */
            attachments?: components["schemas"]["AnyObject"] | null;
            /** @description Cell id, chosen by you; absent: by the server. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description `code`, `markdown`, `raw`, `sql` or `prompt`. */
            cell_type: components["schemas"]["CellType"];
            /**
             * @description Flags to set: pinned, skipped, hidden source, hidden outputs. Absent: none.
             * @default {}
             */
            flags?: components["schemas"]["CellFlagChanges"];
            /**
             * @description Metadata as in nbformat; at most 1 MiB.
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
        /** @description Changes the flags of a message. Needs the right to edit. */
        NewFlags: {
            /** @description Always in the assistant's context. Absent: unchanged. */
            pinned?: boolean | null;
            /** @description Never in the assistant's context. Absent: unchanged. Excludes `pinned`. */
            skipped?: boolean | null;
        };
        /** @description Lets calls of one conversation pass without a confirmation, for a time. Destructive calls always need one. */
        NewGrant: {
            /** @description The only conversation for which it is valid. Covers calls for the person whom the assistant serves now. */
            conversation: components["schemas"]["ConversationId"];
            /**
             * Format: uint64
             * @description Expiry in milliseconds since 1970, within seven days.
             */
            expires_at: number;
            /**
             * @description Names of functions. Empty: every function that is not destructive.
             * @default []
             */
            functions?: string[];
            /** @description Grant id, chosen by you; absent: a new one. */
            id?: components["schemas"]["GrantId"] | null;
        };
        /** @description A notebook to create; you are its owner. */
        NewNotebook: {
            /** @description Notebook id, chosen by you, so that a retry is the same creation. Absent: derived from `Idempotency-Key`, else new. */
            id?: components["schemas"]["NotebookId"] | null;
            /**
             * @description Metadata as in nbformat, for instance `{"kernelspec": {"name": "python3", "display_name": "Python 3"}}`.
             * @default {}
             */
            metadata?: components["schemas"]["AnyObject"];
            /** @description Template, which brings its metadata and cells: omit `metadata` and `with_cell`. */
            template?: components["schemas"]["TemplateChoice"] | null;
            /** @description Title, 1 to 255 characters on one line; need not be unique. White space around it is removed. */
            title: string;
            /**
             * @description True: the notebook has one empty code cell.
             * @default false
             */
            with_cell?: boolean;
        };
        /** @description Hands a notebook over. Needs the right to share. */
        NewOwner: {
            /** @description The new owner; you become an editor, other owners keep their role. */
            user: components["schemas"]["UserId"];
        };
        /** @description A link to create. Needs the right to share. A notebook has at most 500. */
        NewShareLink: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: valid until revoked.
             */
            expires_at?: number | null;
            /**
             * @description Text that others see instead of a name, as in "Reviewer".
             * @default
             */
            label?: string;
            /** @description `viewer`, `commenter`, `runner`, `author` or `editor`. */
            role: components["schemas"]["Role"];
        };
        /** @description First comment of a new thread on a cell. */
        NewThread: {
            /**
             * Format: uint64
             * @description The notebook's version to which the range refers; absent: the current one.
             */
            base?: number | null;
            /**
             * @description Ids of mentioned accounts; at most 50. A mention grants no right.
             * @default []
             */
            mentions?: components["schemas"]["UserId"][];
            /** @description `[start, end]` in the cell's source, in UTF-16 code units, not empty; absent: the whole cell. */
            range?: components["schemas"]["TextRange"] | null;
            /** @description Markdown, 1 to 10,000 characters. */
            text: string;
        };
        /** @description An account to create, without a password: the person chooses it. For administrators. */
        NewUser: {
            /**
             * @description True: tokens of the account may hold the scope `admin`, for accounts, tokens and workspaces of the whole server.
             * @default false
             */
            is_admin?: boolean;
            /** @description 1 to 100 characters without spaces, unique; kept in lower case. */
            login: string;
            /** @description 1 to 100 characters on one line, not unique. */
            name: string;
        };
        /** @description A notebook's state, as in `protocol/schema/notebook.json`. */
        NotebookAnswer: {
            /** @description End of the record: at `version`, or after it if the notebook is `read_only`. Absent for past versions. */
            head?: unknown;
            /** @description Reachability and activity of each kernel. Empty for past versions. */
            kernels?: components["schemas"]["KernelStatus"][];
            /** @description The state as over the socket: `schema/notebook.json`. */
            notebook: components["schemas"]["Document"];
            /**
             * @description True: a newer server has written this notebook. It is shown as it was before the first event that this server does not know, and
             *     takes no commands.
             */
            read_only?: boolean;
            /** @description Your role now. */
            role: components["schemas"]["Role"];
            /**
             * Format: uint64
             * @description Version of `notebook`: the value of `If-Match` for a command that requires this version.
             */
            version: number;
        };
        /** @description Changes of a notebook as a whole. Needs the right to edit. */
        NotebookChange: {
            /** @description New metadata as a whole, as in nbformat; absent: unchanged. */
            metadata?: components["schemas"]["AnyObject"] | null;
            /** @description 1 to 255 characters on one line; absent: unchanged. */
            title?: string | null;
        };
        /** @description A function that a user has registered in a kernel. */
        NotebookFunction: {
            /** @description Cell that probably defines it, found by its text. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description Description for people and models. */
            description: string;
            /** @description Kernel that has the function. Absent: the kernel ended. */
            kernel_session?: components["schemas"]["KernelSessionId"] | null;
            /** @description Name for calls. */
            name: string;
            /** @description Reason why it cannot be called now, and what to do. Absent: it can be called. */
            problem?: string | null;
            /** @description Highest risk of a call; a destructive function needs `confirmed`. */
            risk: components["schemas"]["OpenRisk"];
            /** @description JSON Schema of its arguments, of type object. */
            schema: components["schemas"]["AnyObject"];
            /** @description Version of this definition; it changes with the function. */
            version: string;
        };
        /** @description Dependencies between the cells of a notebook. */
        NotebookGraph: {
            /** @description Code and SQL cells, in page order. */
            cells: components["schemas"]["CellReport"][];
            /** @description Names that several cells define, except names that all of them only import. */
            defined_twice?: components["schemas"]["ClashReport"][];
            /** @description The notebook's setting: which cells a run of a cell also updates. */
            reactivity: components["schemas"]["Reactivity"];
            /**
             * Format: uint64
             * @description Version of the notebook that this graph describes.
             */
            version: number;
        };
        /** @description Id of a notebook. The client chooses it, so that a repeated creation has no second effect. */
        NotebookId: string;
        /** @description A notebook in a list. */
        NotebookLine: {
            /** @description True if it is archived: it can only be read, exported and forked. */
            archived: boolean;
            /**
             * Format: uint64
             * @description Number of cells, also for archived notebooks.
             */
            cells: number;
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description Excerpt; only if requested with `snippets`, and the words occur in a source. */
            found?: components["schemas"]["FoundText"] | null;
            /** @description Notebook id. */
            id: components["schemas"]["NotebookId"];
            /** @description True if it is a template for new notebooks (`GET /api/templates`). */
            is_template?: boolean;
            /** @description Current activity; only if requested with `live`, and the notebook is open on this server. */
            now?: components["schemas"]["NotebookNow"] | null;
            /**
             * @description Ids of the owners; `GET /api/people/{user}` has their names.
             * @default []
             */
            owners?: components["schemas"]["UserId"][];
            /** @description 1 to 255 characters on one line; not unique. */
            title: string;
            /**
             * Format: uint64
             * @description Time of the last event, in milliseconds since 1970.
             */
            updated_at: number;
            /**
             * Format: uint64
             * @description Last version that the list knows. It includes all of your changes; changes of others may be missing for a moment.
             */
            version: number;
            /** @description The notebook's workspace, whose members have their role in it. */
            workspace?: components["schemas"]["WorkspaceId"] | null;
        };
        /** @description Current activity in a notebook. It is not recorded. */
        NotebookNow: {
            /** @description People and guests who have the notebook open, including you: each once, at most 20. */
            people: components["schemas"]["PersonHere"][];
            /**
             * Format: uint64
             * @description Number of runs that wait for a kernel, or for runs before them.
             */
            queued: number;
            /**
             * Format: uint64
             * @description Number of runs that a kernel executes.
             */
            running: number;
        };
        /** @description Page of the notebook list, by default the last changed first. */
        NotebookPage: {
            /** @description Value of `cursor` for the next page; absent on the last page. */
            next?: string | null;
            /** @description Notebooks, at most `limit`. */
            notebooks: components["schemas"]["NotebookLine"][];
        };
        /** @description One kind of change that the import made, with the number of its occurrences. */
        Notice: {
            /**
             * Format: uint
             * @description Index of the first cell with this change; absent when it concerns the notebook.
             */
            cell?: number | null;
            /** @description Stable code, for programs. */
            code: components["schemas"]["NoticeCode"];
            /**
             * Format: uint
             * @description Number of occurrences.
             */
            count: number;
            /** @description Text for people: the change, and a short extract where it helps. */
            message: string;
        };
        /**
         * @description Kind of repair or conversion in a [`Notice`].
         *
         *     `byte_order_mark`: U+FEFF preceded the JSON, as Windows editors write it.
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
         *     `unknown_notebook_key`: A top-level key is unknown to nbformat 4; an export writes it back.
         *
         *     `kernelspec_completed`: `kernelspec` or `language_info` lacked a name that nbformat requires.
         *
         *     `cell_not_an_object`: An entry of `cells` was no object; it is kept in the cell's metadata.
         *
         *     `cell_type`: A cell type that Notarium does not have was converted, as the notice says: `heading` became Markdown, for example.
         *
         *     `cell_id`: An id was missing, already used, or not 1 to 64 characters of `A-Z a-z 0-9 - _`.
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
         *     `empty_field_dropped`: A field that does not belong to its cell or output, and was empty.
         *
         *     `stale_aside`: An earlier export had stored something under `metadata.notarium` for content that has changed since.
         * @enum {string}
         */
        NoticeCode: "byte_order_mark" | "lone_surrogate" | "not_finite" | "duplicate_key" | "version_guessed" | "newer_minor" | "upgraded" | "worksheets_flattened" | "notebook_metadata" | "unknown_notebook_key" | "kernelspec_completed" | "cell_not_an_object" | "cell_type" | "cell_id" | "cell_metadata" | "unknown_cell_key" | "source" | "line_endings" | "attachments" | "execution_count" | "outputs_missing" | "output_not_an_object" | "output_completed" | "output_upgraded" | "unknown_output" | "empty_field_dropped" | "stale_aside";
        /** @description A database connection that the operator of a runtime agent has named: the part that people and programs may see. */
        OfferedConnection: {
            /** @description `postgresql`, `sqlite` or `duckdb`. */
            kind: string;
            /** @description Name as an SQL cell has it in its first line: `-- @warehouse`. */
            name: string;
            /** @description True if a cell with `write` after the name, as in `-- @warehouse write`, may write. */
            writes?: boolean;
        };
        /** @description A kernel that a runtime agent can launch, as Jupyter describes it. */
        OfferedKernelspec: {
            /** @description Display name, as in `Python 3 (ipykernel)`. */
            display_name: string;
            /** @description Language of the code, as in `python`. */
            language: string;
            /** @description Directory name of the kernelspec, as in `python3`; `LaunchKernel` takes it. */
            name: string;
        };
        /** @description Begins a sign-in of a browser with the provider. */
        OidcBegin: {
            /**
             * @description True: confirms your identity again, for a session of 15 minutes as with `SignIn.fresh`. The provider asks again, and no key is bound
             *     to that session.
             * @default false
             */
            fresh?: boolean;
            /** @description Public key, as in `SignIn.key`: the session is bound to it, and the same browser must finish the sign-in. */
            key: string;
        };
        /** @description Redirect to the provider. */
        OidcBegun: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970: ten minutes from now.
             */
            expires_at: number;
            /** @description State, which returns in the query of `/oidc/callback`: store the key under it until then. */
            state: string;
            /** @description URL at the provider; navigate to it. */
            url: string;
        };
        /** @description Finishes a sign-in with the values in the query of `/oidc/callback`. */
        OidcFinish: {
            /** @description The `code` from the provider. */
            code: string;
            /**
             * @description The `fresh` of the begin.
             * @default false
             */
            fresh?: boolean;
            /** @description The public point sent at the begin. */
            key: string;
            /**
             * @description Label in the list of your sessions, as in "laptop".
             * @default
             */
            label?: string;
            /** @description ECDSA with SHA-256 of the text `notarium-oidc\n<state>\n<code>`, 64 bytes in base64url without padding. */
            signature: string;
            /** @description The `state` of the begin; valid once. */
            state: string;
        };
        /** @description An OpenID Connect provider. */
        OidcOption: {
            /** @description Name for the button, as in "Example University". */
            name: string;
            /** @description Origin of the page, as in `https://notes.example.org`: the provider redirects the browser to it. */
            origin: string;
        };
        /** @description Asks about a one-time token, which stays valid. */
        OneTimeQuestion: {
            /** @description The token's secret, as in `POST /api/session`. */
            token: string;
        };
        /** @description A token to hand to a person, who sends it once to `POST /api/session`. */
        OneTimeToken: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: valid until used.
             */
            expires_at?: number | null;
            /** @description The secret, valid for one use. */
            token: string;
        };
        /** @description Purpose of a one-time token, and the other fields that `POST /api/session` needs. */
        OneTimeUse: {
            /** @description `owner` (the first sign-in of a server), `reset` (an invitation, or a new password) or `link` (opens a browser). */
            kind: string;
            /** @description The person's login, if any. */
            login?: string | null;
            /** @description The person's display name; absent for a link. */
            name?: string | null;
            /** @description True: send `name` and `login`, which the person chooses. */
            needs_login: boolean;
            /** @description True: send `password`, which the person chooses. */
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
        /** @description Key for the place of a cell: ASCII text that sorts byte by byte, with ties sorted by cell id. The server chooses it. */
        OrderKey: string;
        /** @description Information for the sender in the ack: ids that the server chose, and notices about effects that are incomplete. */
        Outcome: {
            /** @description Cells that the command made or restored, in the order of its parts. */
            cells?: components["schemas"]["CellId"][];
            /** @description The comment that the command posted. */
            comment?: components["schemas"]["CommentId"] | null;
            /** @description Executions that the command requested, in the order of its parts. */
            executions?: components["schemas"]["ExecutionId"][];
            /** @description The session that the command launched, or in which its run is queued. */
            kernel_session?: components["schemas"]["KernelSessionId"] | null;
            /** @description Sentences for people, for example about parts of an undo that other edits had overwritten. */
            notices?: string[];
            /** @description The thread that the command began, or in which it replied. */
            thread?: components["schemas"]["ThreadId"] | null;
            /** @description The tool call that the command requested or decided on. */
            tool_call?: components["schemas"]["ToolCallId"] | null;
            /** @description The turn that the command started. */
            turn?: components["schemas"]["TurnId"] | null;
        };
        /** @description One output of a run, as in nbformat. */
        Output: {
            /** @description The parts that are missing in `content`: each part above 8 KiB is a blob. */
            blobs?: components["schemas"]["BlobPart"][];
            /** @description An nbformat 4 output object (`output_type` …) without the parts that are in `blobs`. */
            content: components["schemas"]["AnyJson"];
            /** @description The id by which later updates name this `display_data`. Absent: it has none. */
            display_id?: string | null;
        };
        /** @description A notebook of a person, as shown to an administrator who cannot read it. */
        OwnedNotebook: {
            /** @description True if it is archived. */
            archived: boolean;
            /** @description Names it in `POST /api/notebooks/{notebook}/take-over`. */
            id: components["schemas"]["NotebookId"];
            /** @description 1 to 255 characters on one line; not unique. */
            title: string;
        };
        /** @description Notebooks that a person owns. */
        OwnedPage: {
            /** @description Ask again with this as `cursor`; absent on the last page. */
            next?: string | null;
            /** @description Notebooks with the person as owner. Pages are cut before this filter: a page may be empty, and not the last. */
            notebooks: components["schemas"]["OwnedNotebook"][];
        };
        /** @description Reason why a call may start. */
        Passed: {
            /** @constant */
            kind: "policy";
        } | {
            /** @description Named by GrantIssued. */
            grant_id: components["schemas"]["GrantId"];
            /** @constant */
            kind: "grant";
        } | {
            /** @description The person who confirmed the call. */
            by: components["schemas"]["Actor"];
            /** @constant */
            kind: "confirmation";
        };
        /** @description Changes the password, and ends all of your other sessions. */
        PasswordChange: {
            /** @description Current password; required if there is one. */
            current?: string | null;
            /** @description New password, at least 10 characters. */
            password: string;
        };
        /** @description A request for input on stdin that has no answer yet. */
        PendingInput: {
            /** @description True: hide the answer while it is typed. It is not recorded. */
            password: boolean;
            /** @description The question, as shown to people. */
            prompt: string;
        };
        /** @description Public profile: visible to every account that has the person's id or login. */
        Person: {
            /** @description User id as in the actor of events, which have no names. */
            id: components["schemas"]["UserId"];
            /** @description Display name, chosen by the person: not unique, may change. */
            name: string;
        };
        /** @description A person or guest who has a notebook open. */
        PersonHere: {
            /** @description A person or a guest. */
            actor: components["schemas"]["Actor"];
            /** @description Display name. */
            name: string;
        };
        /** @description A place for a cell, in page order. */
        Place: "start" | "end" | {
            before: components["schemas"]["CellId"];
        } | {
            after: components["schemas"]["CellId"];
        };
        /** @description Puts a notebook into a workspace, so that its members have their role in it. Needs the right to share. */
        Placement: {
            /** @description The workspace; null: none. */
            workspace?: components["schemas"]["WorkspaceId"] | null;
        };
        /**
         * @description Policy of a notebook: which tool calls need no confirmation. Destructive calls need one under every policy.
         *
         *     `guarded`: Calls that read, edit or run harmless code pass (risks `read` and `edit`).
         *
         *     `ask_for_every_edit`: Only calls that read pass (risk `read`).
         *
         *     `trusted`: All calls but destructive ones pass.
         * @enum {string}
         */
        Policy: "guarded" | "ask_for_every_edit" | "trusted";
        /** @description Policy for assistants' tool calls in a notebook. */
        PolicyOf: {
            /**
             * @description `guarded` (reading, editing and running harmless code pass), `ask_for_every_edit` (only reading passes) or `trusted` (everything
             *     passes that is not destructive). Destructive calls need a confirmation under every policy.
             */
            policy: components["schemas"]["Policy"];
        };
        /** @description A refusal or a fault, as `application/problem+json` (RFC 9457). */
        Problem: {
            /**
             * Format: uint64
             * @description Actual version of the same thing; only for `conflict`.
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
            /** @description Facts of the refusal. Absent: `code` says all. A kind that is unknown counts as absent. */
            details?: components["schemas"]["RejectionDetails"] | null;
            /**
             * Format: uint64
             * @description Expected version in the request, of the notebook or of a cell; only for `conflict`.
             */
            expected_version?: number | null;
            /**
             * Format: uint
             * @description Number of the refused command in a `Batch` sent to `POST …/commands`, from 1.
             */
            part?: number | null;
            /**
             * Format: uint64
             * @description Seconds to wait before a retry; also in the header `Retry-After`.
             */
            retry_after?: number | null;
            /**
             * Format: uint16
             * @description The HTTP status.
             * @default 0
             */
            status?: number;
            /**
             * @description Title; the same for every problem with this status.
             * @default
             */
            title?: string;
            /**
             * @description Kind of the problem: `about:blank` if `code` is enough.
             * @default
             */
            type?: string;
        };
        /** @description New name and login of your account. */
        Profile: {
            /** @description 1 to 100 characters without spaces, unique; kept in lower case. */
            login: string;
            /** @description Display name, 1 to 100 characters on one line. */
            name: string;
        };
        /** @description A question to an assistant: either `text` or `cell_id`. Needs the right to converse. */
        Question: {
            /** @description Images and texts attached to the question, at most 8: blobs of this notebook, uploaded before (`PUT …/blobs/{sha256}`). */
            attachments?: components["schemas"]["Attachment"][];
            /** @description A prompt cell whose source is the question. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description Conversation to continue, or to begin under this id; absent: a new one. */
            conversation?: components["schemas"]["ConversationId"] | null;
            /** @description One of the server's models; absent: the default. */
            model?: string | null;
            /** @description Text of the question; excludes `cell_id`. */
            text?: string | null;
            /** @description Turn id, chosen by you; absent: a new one. */
            turn?: components["schemas"]["TurnId"] | null;
        };
        /**
         * @description Setting of a notebook: which other cells a run of a cell also updates.
         *
         *     `off`: Only the cell itself runs, as in Jupyter.
         *
         *     `lazy`: Stale cells from which the cell reads run before it. Cells that read from it become stale.
         *
         *     `eager`: Stale cells from which the cell reads run before it, and cells that read from it run after it.
         * @enum {string}
         */
        Reactivity: "off" | "lazy" | "eager";
        /** @description Reactivity of a notebook: automatic runs of cells that depend on each other. */
        ReactivityOf: {
            /** @description `off`, `lazy` (stale inputs of a cell run before it) or `eager` (also, its dependents run after it). */
            reactivity: components["schemas"]["Reactivity"];
        };
        /** @description Requests rows of a table that pass search and filters, sorted. */
        ReadTable: {
            /**
             * Format: uint32
             * @description Number of rows; at most 10,000.
             */
            count: number;
            /** @description Filters, all of which a row must pass; at most 20. */
            filters?: components["schemas"]["TableFilter"][];
            /**
             * Format: uint64
             * @description Offset of the first row, among the matching rows in sort order; from 0.
             * @default 0
             */
            first?: number;
            /** @description The table. */
            of: components["schemas"]["TableName"];
            /** @description Returns only rows in which the text of a column contains this, ignoring case. At most 1 KiB. */
            search?: string;
            /** @description Sort order; absent: the order of the table. */
            sort?: components["schemas"]["TableSort"] | null;
        };
        /** @description A function that a kernel has registered as a tool. */
        RegisteredFunction: {
            /** @description The function, as its kernel describes it. */
            function: components["schemas"]["UserFunction"];
            /**
             * @description The kernel that runs the function. Absent: that kernel has ended, and the function cannot be called until a
             *     kernel registers it again.
             */
            kernel_session?: components["schemas"]["KernelSessionId"] | null;
            /**
             * Format: uint64
             * @description The version of the event that registered the function in its present form.
             */
            registered_version: number;
        };
        /** @description Facts of a refusal, for programs. Ignore an unknown kind: `code` and `message` have the rest. */
        RejectionDetails: {
            /** @constant */
            kind: "missing_scope";
            /** @description The missing scope. */
            scope: components["schemas"]["Scope"];
        } | {
            /** @constant */
            kind: "fresh_sign_in";
            /** @description The scope that such a session has. */
            scope: components["schemas"]["Scope"];
        } | {
            /** @constant */
            kind: "missing_right";
            /** @description The highest role of the sender in this notebook. */
            role: components["schemas"]["Role"];
        } | {
            /** @constant */
            kind: "retry_after";
            /**
             * Format: uint64
             * @description Seconds to wait.
             */
            seconds: number;
        } | {
            /** @constant */
            kind: "nothing_to_undo";
        } | {
            /** @constant */
            kind: "nothing_to_redo";
        } | {
            /** @constant */
            kind: "limit";
            /** @description The limit. */
            limit: components["schemas"]["LimitName"];
            /**
             * Format: uint64
             * @description Its value on this server.
             */
            max: number;
            /** @description Unit of `max`. */
            unit: components["schemas"]["LimitUnit"];
        } | {
            /** @description The cells, in the order in which the message names them. */
            cells: components["schemas"]["CellId"][];
            /** @constant */
            kind: "cells";
        } | {
            /** @constant */
            kind: "argument";
            /** @description Its place in the arguments, as in `at.x` or `rows[2].name`. Empty: the arguments as a whole. */
            place: string;
            /** @description The mistake, without the name of the tool or function. */
            problem: string;
        };
        /** @description Reply of an assistant that a prompt cell shows, as far as it is recorded. */
        Reply: {
            /** @description The cause if the reply failed or was cut off. Absent otherwise. */
            cause?: components["schemas"]["OpenTurnFailure"] | null;
            /** @description More about the cause, in a sentence for people. Absent: the cause is all that is known. */
            detail?: string | null;
            /** @description True: the conversation's messages have more text than `text`. */
            is_cut?: boolean;
            /** @description The cell's source at the start of the turn. If the cell's source differs now, the reply is stale. */
            prompt: string;
            /** @description The reply's status. */
            status: components["schemas"]["OpenReplyStatus"];
            /** @description The reason why the model stopped, for the status `finished`. Absent otherwise. */
            stop_reason?: components["schemas"]["OpenStopReason"] | null;
            /** @description The texts of the turn's messages so far, separated by empty lines. */
            text: string;
            /** @description The turn that gives the reply. Absent: the reply came from a file or another notebook. */
            turn_id?: components["schemas"]["TurnId"] | null;
        };
        /**
         * @description Status of a reply in a prompt cell.
         *
         *     `running`: The turn has not ended.
         *
         *     `finished`: The turn has ended by itself; `stop_reason` says why.
         *
         *     `stopped`: A person stopped the turn, or the reply was cut off; `cause` then says why.
         *
         *     `failed`: The turn failed; `cause` says why.
         * @enum {string}
         */
        ReplyStatus: "running" | "finished" | "stopped" | "failed";
        /** @description The resolution of a thread: actor and time. */
        Resolution: {
            /**
             * Format: uint64
             * @description Time of the resolution, in milliseconds since 1970.
             */
            at: number;
            /** @description The actor that resolved the thread. */
            by: components["schemas"]["Actor"];
        };
        /** @description Path for an entry restored from the trash. */
        RestoreFile: {
            /** @description Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent. */
            kernel?: components["schemas"]["KernelSessionId"] | null;
            /** @description Path below the working folder; absent: the former one. An existing file is never replaced (`file_exists`). */
            to?: string | null;
        };
        /** @description Proof that the browser still has the key of its session. */
        Resume: {
            /** @description Challenge from `POST /api/session/challenge`. */
            challenge: string;
            /** @description The public point, as sent at the sign-in. */
            key: string;
            /** @description Token id, from `session` of the sign-in. */
            session: components["schemas"]["TokenId"];
            /** @description ECDSA with SHA-256 of the text `notarium-session\n<session>\n<challenge>`, 64 bytes in base64url without padding. */
            signature: string;
        };
        /** @description Challenge to sign. */
        ResumeChallenge: {
            /** @description Text to sign; valid for one minute, for this session only. */
            challenge: string;
        };
        /** @description Session of a page that opens. */
        ResumeRequest: {
            /** @description Token id, from `session` of the sign-in. */
            session: components["schemas"]["TokenId"];
        };
        /**
         * @description Risk of a tool call, from harmless to irreversible.
         *
         *     `read`: The call changes nothing.
         *
         *     `edit`: The call makes changes that can be undone, or runs harmless code.
         *
         *     `sensitive`: The call runs code that reaches outside the notebook and destroys nothing.
         *
         *     `destructive`: The call deletes, clears, restarts or overwrites something, or runs code that might.
         * @enum {string}
         */
        Risk: "read" | "edit" | "sensitive" | "destructive";
        /**
         * @description Role of a subject in one notebook.
         *
         *     `viewer`: Reads, exports and forks, and is shown to others as present.
         *
         *     `commenter`: Has a viewer's rights, comments, and talks to assistants, which get no further rights.
         *
         *     `runner`: Has a commenter's rights, runs, interrupts and answers input requests. Edits nothing.
         *
         *     `author`: Has a commenter's rights, edits, and confirms edits. Runs nothing.
         *
         *     `editor`: Has the rights of author and runner, confirms all tool calls, and organises the notebook.
         *
         *     `owner`: Has all rights of people: also policy, sharing, moderation, redaction and erasure.
         *
         *     `agent`: A runtime agent: reports what its kernels do.
         * @enum {string}
         */
        Role: "viewer" | "commenter" | "runner" | "author" | "editor" | "owner" | "agent";
        /** @description A run: its subject, requester, times and result. */
        Run: {
            /**
             * @description Actor who cancelled the run, directly or by an interrupt, restart or shutdown of its kernel. Lists omit it for runs with large
             *     outputs; a comparison always has it.
             */
            ended_by?: components["schemas"]["Actor"] | null;
            /** @description Subject (with its source), status, requester, times, outputs: `execution` of `protocol/schema/notebook.json`. */
            execution: components["schemas"]["Execution"];
            /** @description Run id, as in `outcome.executions` of the request. */
            id: components["schemas"]["ExecutionId"];
            /**
             * Format: uint64
             * @description Time since when the kernel's runtime agent is unreachable, for a run that has not ended; milliseconds since 1970. The run continues
             *     if the agent comes back; `POST …/give-up` ends it without waiting.
             */
            unreachable_since?: number | null;
        };
        /** @description An input request of a run, and its answer. */
        RunInput: {
            /** @description Actor who answered; absent: no answer so far. */
            answered_by?: components["schemas"]["Actor"] | null;
            /** @description True: the answer is hidden, and not in the record. */
            password: boolean;
            /** @description Prompt to show. */
            prompt: string;
            /** @description The answer; absent for a password. */
            value?: string | null;
            /**
             * Format: uint64
             * @description Version of the request's event.
             */
            version: number;
        };
        /** @description Input requests of a run on stdin, in order. */
        RunInputs: {
            /** @description Input requests with their answers. */
            inputs: components["schemas"]["RunInput"][];
        };
        /** @description Page of all runs, past ones included, the last requested first, without outputs. */
        RunPage: {
            /**
             * Format: uint64
             * @description Value of `before` for the next page; absent when there are no older runs.
             */
            next?: number | null;
            /** @description Runs, at most `limit`. */
            runs: components["schemas"]["Run"][];
        };
        /** @description Run request: exactly one of `cells`, `all` and `scratch`. */
        RunRequest: {
            /**
             * @description True: runs every code cell that is not empty, from top to bottom.
             * @default false
             */
            all?: boolean;
            /** @description Cells to run, in this order. */
            cells?: components["schemas"]["CellId"][] | null;
            /** @description Kernel session; absent: the notebook's first kernel, which is launched if there is none. */
            kernel_session?: components["schemas"]["KernelSessionId"] | null;
            /** @description Code without a cell. */
            scratch?: components["schemas"]["Scratch"] | null;
            /** @description True: a failed run cancels the following ones. Absent: true for several cells. */
            stop_on_error?: boolean | null;
            /**
             * Format: uint64
             * @description Timeout of a run in milliseconds, after which it is interrupted; absent: none.
             */
            timeout_ms?: number | null;
        };
        /**
         * @description Scope of a token: the operations that it allows at most. An interactive session has all scopes but `agent`.
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
            /** @description Purpose, in a few words. */
            purpose: string;
            /** @description Code in the kernel's language, at most 1 MiB. It is recorded with the run. */
            source: string;
        };
        /** @description A link by which people without an account take part in one notebook. */
        ShareLink: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description The person who created the link. */
            created_by: components["schemas"]["UserId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: valid until revoked.
             */
            expires_at?: number | null;
            /** @description Link id: the subject of its entry in the notebook's access list, and the actor of its guests' events. */
            id: components["schemas"]["ShareLinkId"];
            /** @description Text that others see instead of a guest's name; may be empty. */
            label: string;
            /** @description The only notebook that it opens. */
            notebook: components["schemas"]["NotebookId"];
            /** @description Role when it was created; the notebook's access list has the current one. */
            role: components["schemas"]["Role"];
        };
        /** @description Id of a share link, by which people without an account take part. */
        ShareLinkId: string;
        /** @description A session: send its token as `Authorization: Bearer <token>`. */
        SignedIn: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            expires_at?: number | null;
            /** @description Token id, for `DELETE /api/tokens/{token}` and `POST /api/session/challenge`; not a secret. */
            session: components["schemas"]["TokenId"];
            /** @description The secret; only this answer has it. */
            token: string;
            /** @description The signed-in account. */
            user: components["schemas"]["User"];
        };
        /** @description Either `login` and `password`, or a one-time `token` (the printed owner token, an invitation, a reset, a link for a browser). */
        SignIn: {
            /**
             * @description With login and password: a session of 15 minutes instead of 30 days. If `me` has `asks_again`, only such a session confirms, shares
             *     and manages. Keep it in memory, never on a disk.
             * @default false
             */
            fresh?: boolean;
            /**
             * @description From browsers: the public point of a P-256 key with an unreadable private part, uncompressed (65 bytes), base64url without padding.
             *     The session is bound to it: a page that opens later gets its token from `POST /api/session/resume`.
             */
            key?: string | null;
            /**
             * @description Label in the list of your sessions, as in "laptop".
             * @default
             */
            label?: string;
            /** @description With a password: the account's login. With an owner token: the login that you choose; requires `name`. */
            login?: string | null;
            /** @description With an owner token: your display name. Requires `login`. */
            name?: string | null;
            /**
             * @description With a reset, an invitation or an owner token: the new password, at least 10 characters. `POST /api/session/one-time` lists what a
             *     token needs.
             */
            password?: string | null;
            /** @description The secret of a one-time token, good for one use. */
            token?: string | null;
        };
        /** @description Ways to sign in to this server, besides login and password and tokens. */
        SignInOptions: {
            /** @description The OpenID Connect provider; absent: none. */
            oidc?: components["schemas"]["OidcOption"] | null;
        };
        /**
         * @description State of a cell, compared with the variables in the kernel.
         *
         *     `fresh`: A run now would give the same outputs, as far as names show.
         *
         *     `stale`: A run now may give other outputs; `why` has the reason.
         *
         *     `blocked`: The cell did not run, because a cell from which it reads did not succeed.
         *
         *     `cycle`: The cell depends on itself through other cells, so it does not run.
         * @enum {string}
         */
        Standing: "fresh" | "stale" | "blocked" | "cycle";
        /** @description A template that every server has. */
        Starter: {
            /** @description Purpose, on one line. */
            description: string;
            /** @description Template id, for `TemplateChoice`. */
            id: string;
            /** @description Title on one line. */
            title: string;
        };
        /** @description Extent of an undo or redo. The body may be omitted. */
        Steps: {
            /**
             * @description Considers only those of your groups that changed text and touch this cell.
             * @default null
             */
            cell_id?: components["schemas"]["CellId"] | null;
            /**
             * @description Correlation id of one group, instead of your last ones. Undo only.
             * @default null
             */
            correlation_id?: components["schemas"]["CorrelationId"] | null;
            /**
             * Format: uint32
             * @description Number of groups; absent: one.
             * @default null
             */
            steps?: number | null;
        };
        /**
         * @description Reason why the model stopped, at the end of a turn.
         *
         *     `end_turn`: The model has finished its answer.
         *
         *     `max_turns`: The model called tools in the last model call that a turn may have.
         *
         *     `max_tokens`: The reply reached the length that the model or the request allows.
         *
         *     `refusal`: The model refused to answer.
         * @enum {string}
         */
        StopReason: "end_turn" | "max_turns" | "max_tokens" | "refusal";
        /** @description Holder of a role in a notebook's access list. */
        Subject: {
            /** @description The user's id, as in the actor of the user's events. */
            id: components["schemas"]["UserId"];
            /** @constant */
            kind: "user";
        } | {
            /** @description The share link's id, as in the actor of the guests' events. */
            id: components["schemas"]["ShareLinkId"];
            /** @constant */
            kind: "share_link";
        } | {
            /** @description The workspace's id, as in `GET /api/workspaces`. */
            id: components["schemas"]["WorkspaceId"];
            /** @constant */
            kind: "workspace";
        } | {
            /** @description The agent's id, as in the actor of its events. */
            id: components["schemas"]["AgentId"];
            /** @constant */
            kind: "agent";
        };
        /** @description Requests a summary of a column. */
        SummarizeColumn: {
            /**
             * Format: uint32
             * @description Index in `columns`, from 0.
             */
            column: number;
            /** @description The table. */
            of: components["schemas"]["TableName"];
        };
        /** @description A table or a view. */
        Table: {
            /** @description Catalog, if it is not the default one: a database that DuckDB has attached, or `temp`. */
            catalog?: string | null;
            /** @description Columns in table order; at most 10,000 over all tables. */
            columns: components["schemas"]["Column"][];
            /**
             * Format: uint64
             * @description Number of further columns that were left out.
             */
            columns_left_out?: number;
            /** @description True if SQL finds the table by its name alone. */
            is_visible: boolean;
            /** @description `table`, `view`, `materialized_view` or `foreign_table`. */
            kind: string;
            /** @description Unquoted name; SQL may need quotes around it. */
            name: string;
            /** @description Schema of the table. */
            schema: string;
        };
        /** @description A column of a table. Index columns come first. */
        TableColumn: {
            /** @description True for a column of the index. */
            is_index?: boolean;
            /** @description `integer`, `number`, `boolean`, `datetime`, `text` or `any`; more may be added. */
            kind: string;
            /** @description Text that the library prints for a missing value. Absent: `NaN`. */
            missing?: string | null;
            /** @description Column name as text; not necessarily unique, and empty for an unnamed index. */
            name: string;
            /** @description Type as the library names it: `int64`, `datetime64[ns, UTC]`, `String` … */
            type: string;
        };
        /** @description Condition on the value of a column. */
        TableFilter: {
            /**
             * Format: uint32
             * @description Index in `columns`, from 0.
             */
            column: number;
            /** @description Comparison: as numbers or times if `value` is one, else as text in lower case. */
            operator: components["schemas"]["TableOperator"];
            /**
             * @description Value to compare with; empty for `empty` and `not_empty`. At most 1 KiB.
             * @default
             */
            value?: string;
        };
        /** @description Name of a table in a kernel's memory: exactly one of the two fields. */
        TableName: {
            /** @description The `table` that the output carries: the very frame that it shows, even if its variable holds another by now. */
            table?: string | null;
            /** @description A variable that holds a data frame or a series of pandas or polars. */
            variable?: string | null;
        };
        /**
         * @description Comparison of a value.
         *
         *     `contains`: Its text contains the other.
         *
         *     `lacks`: Its text does not contain the other.
         *
         *     `equal`: Equal.
         *
         *     `not_equal`: Not equal, or missing.
         *
         *     `less`: Less than.
         *
         *     `at_most`: Less than or equal.
         *
         *     `more`: Greater than.
         *
         *     `at_least`: Greater than or equal.
         *
         *     `empty`: Missing, or an empty text.
         *
         *     `not_empty`: Neither missing nor an empty text.
         * @enum {string}
         */
        TableOperator: "contains" | "lacks" | "equal" | "not_equal" | "less" | "at_most" | "more" | "at_least" | "empty" | "not_empty";
        /** @description Rows of a table, as it is in the kernel now. */
        TablePage: {
            /** @description Columns, at most 2,000. */
            columns: components["schemas"]["TableColumn"][];
            /**
             * Format: uint64
             * @description Number of further columns that were left out.
             */
            columns_left_out?: number;
            /**
             * @description Rows, each with a value per column: `null` where there is none, a number, a boolean, or a text. Integers beyond 2^53 and numbers
             *     that are not finite (`inf`, `-inf`, `NaN`) are texts.
             */
            data: components["schemas"]["AnyJson"][][];
            /**
             * Format: uint64
             * @description Offset of the first row of `data` among the matching rows.
             */
            first: number;
            /** @description Shape, types or first rows differ from those that the output showed. */
            is_changed?: boolean;
            /** @description The answer has fewer rows than requested because of its size: request the next ones from behind the last. */
            is_cut?: boolean;
            /** @description Type of the table: `pandas.DataFrame`, `polars.Series` … */
            kind: string;
            /**
             * Format: uint64
             * @description Number of rows that pass search and filters.
             */
            matching: number;
            /**
             * Format: uint64
             * @description Number of rows of the table.
             */
            rows: number;
            /** @description Name of the table in later questions. */
            table: string;
        };
        /** @description Sort order by one column. Rows without a value come last; equal rows keep their order. */
        TableSort: {
            /**
             * Format: uint32
             * @description Index in `columns`, from 0.
             */
            column: number;
            /**
             * @description Sorts from the largest to the smallest.
             * @default false
             */
            is_descending?: boolean;
        };
        /** @description Replaces an owner whose account is deactivated. For administrators. */
        TakeOver: {
            /** @description The deactivated owner, who loses the role. */
            from: components["schemas"]["UserId"];
            /** @description The new owner; absent: you. */
            to?: components["schemas"]["UserId"] | null;
        };
        /** @description Target of a tool call, in the version that it had at the request. A change of the target makes the call void. */
        Target: {
            /** @description The cell. */
            cell_id: components["schemas"]["CellId"];
            /**
             * Format: uint64
             * @description The cell's `cell_version` at the request.
             */
            cell_version: number;
            /** @constant */
            kind: "cell";
        } | {
            /**
             * Format: uint64
             * @description Number of these cells at the request.
             */
            cells: number;
            /** @constant */
            kind: "code";
            /**
             * Format: uint64
             * @description The highest `cell_version` of these cells.
             */
            newest_version: number;
        } | {
            /** @description The kernel's session. A restart begins another session. */
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
             * @description The version of the event that registered the function in its present form.
             */
            registered_version: number;
        } | {
            /** @constant */
            kind: "file";
            /** @description The path in the call's arguments. A relative path begins at the kernel's working folder. */
            path: string;
            /** @description SHA-256 of the file's content, in lower-case hex. Absent: the file must not exist yet. */
            sha256?: string | null;
        };
        /** @description Template of a new notebook: cells without outputs. */
        TemplateChoice: {
            starter: string;
        } | {
            notebook: components["schemas"]["NotebookId"];
        };
        /** @description A notebook that is a template. */
        TemplateLine: {
            /**
             * Format: uint64
             * @description Number of cells.
             */
            cells: number;
            /** @description Purpose, on one line; may be empty. */
            description: string;
            /** @description Notebook id, for `TemplateChoice`. */
            notebook: components["schemas"]["NotebookId"];
            /** @description 1 to 255 characters on one line; not unique. */
            title: string;
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            updated_at: number;
        };
        /** @description Makes a notebook a template; stored as `notarium.template` in its metadata. */
        TemplateMark: {
            /**
             * @description Purpose: one line of at most 200 characters.
             * @default
             */
            description?: string;
        };
        /** @description Templates for new notebooks. */
        Templates: {
            /** @description True if there are more notebooks than listed. */
            is_cut: boolean;
            /** @description Notebooks that are templates and that you may see, the last changed first. */
            notebooks: components["schemas"]["TemplateLine"][];
            /** @description Built-in templates of this server. */
            starters: components["schemas"]["Starter"][];
        };
        /** @description A range of a text: `[start, end]` in JSON, in UTF-16 code units. Empty if its text was deleted. */
        TextRange: number[];
        /** @description A thread of comments on a cell, or on a range of its text. It is not shown while its cell is in the trash. */
        Thread: {
            /** @description The cell that the thread is about. */
            cell_id: components["schemas"]["CellId"];
            /** @description The comments, in the order in which they were posted. */
            comments: components["schemas"]["Comment"][];
            /** @description The text of the range when the thread began, cut to 500 characters. Absent: the thread began without a range. */
            quote?: string | null;
            /** @description The range of text, which edits move. Empty: the text was deleted. Absent: the thread is about the whole cell. */
            range?: components["schemas"]["TextRange"] | null;
            /** @description The thread's resolution. Absent: the thread is open. */
            resolved?: components["schemas"]["Resolution"] | null;
        };
        /** @description Id of a thread of comments. */
        ThreadId: string;
        /** @description New place of a thread. */
        ThreadMove: {
            /** @description The cell, and the range of its source. */
            place: components["schemas"]["CommentPlace"];
        };
        /** @description Comment threads of a notebook. */
        Threads: {
            /** @description Threads by id: open and resolved ones, and those whose cell is in the trash. */
            threads: {
                [key: string]: components["schemas"]["Thread"];
            };
            /**
             * Format: uint64
             * @description Version of the notebook.
             */
            version: number;
        };
        /** @description A token, without its secret. */
        Token: {
            /** @description Agent id as in the actor of events; only for agents. */
            agent?: components["schemas"]["AgentId"] | null;
            /** @description Notebooks for which it is valid. */
            covers: components["schemas"]["Covers"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description The person who created it, and may revoke it. */
            created_by: components["schemas"]["UserId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970; absent: valid until revoked.
             */
            expires_at?: number | null;
            /** @description Token id, for `DELETE /api/tokens/{token}`. */
            id: components["schemas"]["TokenId"];
            /** @description `session`, `api` or `agent`. */
            kind: string;
            /** @description Label, up to 100 characters; may be empty. For an agent: its name. */
            label: string;
            /**
             * Format: uint64
             * @description Time of the last use, up to ten minutes late; milliseconds since 1970.
             */
            last_used_at?: number | null;
            /** @description Scopes as requested when it was created. */
            scopes: components["schemas"]["Scope"][];
        };
        /** @description Id of a token. It is not the token's secret. */
        TokenId: string;
        /** @description A tool call that has not ended. */
        ToolCall: {
            /** @description The call that must end before this one starts. Absent: none. */
            after?: components["schemas"]["ToolCallId"] | null;
            /** @description The complete arguments. */
            arguments: components["schemas"]["AnyObject"];
            /** @description SHA-256 of the function's name and the arguments in canonical form. A confirmation names this hash. */
            arguments_hash: components["schemas"]["Hash"];
            /** @description The name of a built-in tool or of a registered function. */
            function: string;
            /** @description The decision at the request: the call passes, or waits for a person until a time. Treat an unknown gate as waiting. */
            gate: components["schemas"]["OpenGate"];
            /** @description The call's phase, as an object such as `{"phase": "waiting"}`. */
            phase: components["schemas"]["ToolCallPhase"];
            /** @description The reasons for the risk, as sentences for people. */
            reasons?: string[];
            /**
             * Format: uint64
             * @description Time of the request, in milliseconds since 1970.
             */
            requested_at: number;
            /** @description The assistant, and the person for whom it acts. */
            requested_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description The version of the call's ToolCallRequested.
             */
            requested_version: number;
            /** @description The risk of the call, judged by tool, arguments, targets and code. Treat an unknown risk as `destructive`. */
            risk: components["schemas"]["OpenRisk"];
            /** @description The objects that the call touches, in the versions that they had at the request. */
            targets?: components["schemas"]["OpenTarget"][];
            /** @description The turn that requested the call. Absent for outside assistants. */
            turn_id?: components["schemas"]["TurnId"] | null;
        };
        /** @description Id of one call of a tool by an assistant. */
        ToolCallId: string;
        /** @description Phase of a tool call that has not ended. */
        ToolCallPhase: {
            /** @constant */
            phase: "waiting";
        } | {
            /** @description The person who confirmed the call. */
            by: components["schemas"]["Actor"];
            /** @constant */
            phase: "confirmed";
        } | {
            /** @constant */
            phase: "passed";
        } | {
            /**
             * Format: uint64
             * @description Time of the start, in milliseconds since 1970.
             */
            at: number;
            /** @description The server instance that executes the call. */
            claimant: components["schemas"]["InstanceId"];
            /** @constant */
            phase: "started";
        };
        /** @description Cells in the trash, which can be restored, the last deleted first. */
        Trash: {
            /** @description Cells as they were when deleted, each once. At most 1,000. */
            cells: components["schemas"]["TrashedCell"][];
            /** @description True: older cells may be missing, as the log was not read to its beginning. */
            incomplete?: boolean;
        };
        /** @description A cell in the trash: `POST …/cells/{cell}/restore` brings it back where it was. */
        TrashedCell: {
            /** @description Type, source, metadata, attachments and flags. */
            cell: components["schemas"]["CellContent"];
            /** @description Cell id; a restored cell keeps it. */
            cell_id: components["schemas"]["CellId"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            deleted_at: number;
            /** @description Actor who deleted it; for an undone insertion, who undid it. */
            deleted_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description Version of the event that deleted it.
             */
            deleted_version: number;
        };
        /** @description An entry of the trash. */
        TrashedFile: {
            /** @description Id for restoring it. */
            id: string;
            /** @description Kind of the entry. */
            kind: components["schemas"]["FileKind"];
            /** @description Former path, below the working folder. */
            path: string;
            /**
             * Format: uint64
             * @description Time of removal by the clock of that machine, in milliseconds since 1970.
             */
            removed_at: number;
            /**
             * Format: uint64
             * @description Total size in bytes; for a folder with very many files, of the counted ones.
             */
            size_bytes: number;
        };
        /** @description A turn that has not ended. */
        Turn: {
            /**
             * Format: uint32
             * @description Number of attempts of the last model call.
             */
            attempts: number;
            /** @description The prompt cell that the turn answers. Absent: the message came from a chat. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description The conversation of the turn. */
            conversation_id: components["schemas"]["ConversationId"];
            /** @description True: that token is bound to some notebooks, so the turn cannot create or list notebooks. */
            is_bound: boolean;
            /** @description True: the last attempt failed, and the next is another attempt of the same model call. */
            is_model_call_failed?: boolean;
            /** @description The message that the turn answers. */
            message_id: components["schemas"]["MessageId"];
            /** @description The model that the person chose. Absent: the server's default. */
            model?: string | null;
            /** @description The server instance that makes the last model call. Absent: no model call is under way. */
            model_call_claimant?: components["schemas"]["InstanceId"] | null;
            /**
             * Format: uint32
             * @description Number of model calls that have begun.
             */
            model_calls: number;
            /** @description The person for whom the assistant acts. */
            requested_by: components["schemas"]["Actor"];
            /** @description Scopes of the token or session that began the turn, of read, edit and run. Calls that need another scope are refused. */
            scopes: components["schemas"]["Scope"][];
            /**
             * Format: uint64
             * @description Time of the start, in milliseconds since 1970.
             */
            started_at: number;
            /**
             * Format: uint64
             * @description The version of the turn's TurnStarted.
             */
            started_version: number;
        };
        /**
         * @description Cause of a model call without an answer, of a failed turn, or of a reply that was cut off.
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
         *     `reply_too_long`: The answer exceeds the limit for a provider's answer or for a message.
         *     In words: the model's answer is too long.
         *
         *     `empty_reply`: In words: the model answered nothing.
         *
         *     `no_model`: No model is configured, or the chosen one is not.
         *     In words: there is no such model here.
         *
         *     `not_asked`: The request to the model could not be made.
         *     In words: the model could not be asked.
         *
         *     `server_stopped`: In words: the server stopped while the model answered.
         *
         *     `refused`: The notebook refused a step of the turn.
         *     In words: the assistant may not go on.
         *
         *     `copied`: The cell was copied while its reply was being written.
         *     In words: the assistant was still answering when this was copied.
         *
         *     `cell_deleted`: The cell was in the trash while the rest of its reply was written.
         *     In words: the cell was moved to the trash meanwhile: the conversation holds the whole reply.
         * @enum {string}
         */
        TurnFailure: "wrong_key" | "quota_exhausted" | "unknown_model" | "rate_limited" | "unavailable" | "context_too_long" | "bad_request" | "unreachable" | "timed_out" | "took_too_long" | "cut_stream" | "malformed_stream" | "reply_too_long" | "empty_reply" | "no_model" | "not_asked" | "server_stopped" | "refused" | "copied" | "cell_deleted";
        /** @description Id of a turn: an assistant's work on one message, with its model calls and tool calls. */
        TurnId: string;
        /** @description Page of all turns, past ones included, the last begun first. */
        TurnPage: {
            /**
             * Format: uint64
             * @description Value of `before` for the next page; absent when there are no older turns.
             */
            next?: number | null;
            /** @description Turns, at most `limit`. */
            turns: components["schemas"]["TurnSummary"][];
        };
        /**
         * @description Status of a turn.
         *
         *     `running`: The assistant works, or waits for a person.
         *
         *     `finished`: The model stopped; see `stop_reason`.
         *
         *     `cancelled`: Stopped by a person; see `cancelled_by`.
         *
         *     `failed`: No provider answered, or the server could not continue; see `cause`.
         * @enum {string}
         */
        TurnStatus: "running" | "finished" | "cancelled" | "failed";
        /** @description Summary of one turn, from the record. */
        TurnSummary: {
            /**
             * Format: uint32
             * @description Number of attempts of model calls, failed ones included.
             */
            attempts: number;
            /** @description Actor who stopped it; absent if it was not stopped. */
            cancelled_by?: components["schemas"]["Actor"] | null;
            /** @description Cause of a failure. */
            cause?: string | null;
            /** @description The prompt cell that the turn answers. */
            cell_id?: components["schemas"]["CellId"] | null;
            /** @description Conversation of the turn, which has its messages. */
            conversation_id: components["schemas"]["ConversationId"];
            /**
             * Format: uint64
             * @description End time: finished, cancelled or failed. Absent while it runs.
             */
            ended_at?: number | null;
            /** @description Turn id, as in `StartTurn.turn_id`, or chosen by the server. */
            id: components["schemas"]["TurnId"];
            /** @description `provider/model` of its last model call; before the first call the requested model. */
            model?: string | null;
            /**
             * Format: uint32
             * @description Number of model calls so far, without repeated attempts; at most 10.
             */
            model_calls: number;
            /** @description The person for whom the assistant acts. */
            requested_by: components["schemas"]["Actor"];
            /**
             * Format: uint64
             * @description Milliseconds since 1970, like all times here.
             */
            started_at: number;
            /** @description Current status; an ended turn does not begin again. */
            status: components["schemas"]["TurnStatus"];
            /** @description Stop reason of a finished turn: `end_turn`, `max_turns`, `max_tokens` or `refusal`. */
            stop_reason?: components["schemas"]["OpenStopReason"] | null;
            /** @description Tokens of all attempts together: `input_tokens`, `output_tokens`; `estimated` if a part is estimated. */
            usage: components["schemas"]["Usage"];
            /**
             * Format: uint64
             * @description Version of its TurnStarted event: `before` of the next page.
             */
            version: number;
        };
        /** @description An uploaded blob. */
        Uploaded: {
            /** @description Hash of the received bytes: the same as in the path. */
            sha256: components["schemas"]["Hash"];
            /**
             * Format: uint64
             * @description Size in bytes; at most 256 MiB by default.
             */
            size_bytes: number;
        };
        /** @description Tokens that a model call used. */
        Usage: {
            /** @description True: the server's estimate, because the provider reported no numbers. */
            estimated?: boolean;
            /**
             * Format: uint64
             * @description Number of tokens that the model read.
             * @default 0
             */
            input_tokens?: number;
            /**
             * Format: uint64
             * @description Number of tokens that the model wrote.
             * @default 0
             */
            output_tokens?: number;
        };
        /** @description Use of your account, then of your workspaces. */
        UsageAnswer: {
            /** @description Accounts, at most 1,000. */
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
             * @description Time of deactivation by an administrator, milliseconds since 1970. Absent: the account is active.
             */
            deactivated_at?: number | null;
            /** @description False: an invitation was not used yet, or an administrator has reset the password. */
            has_password: boolean;
            /** @description User id as in the actor of events. */
            id: components["schemas"]["UserId"];
            /** @description True for an administrator of the server. There is always at least one. */
            is_admin: boolean;
            /** @description Login for the sign-in. Absent until the person has chosen it. */
            login?: string | null;
            /** @description Display name, chosen by the person. */
            name: string;
        };
        /** @description A registered function, as its kernel describes it. */
        UserFunction: {
            /**
             * @description Description for the model and for people: what the function does and when to use it. At most 4,000 characters.
             * @default
             */
            description?: string;
            /** @description The function's name: 1 to 64 ASCII letters, digits and `_`, a letter first. */
            name: string;
            /** @description The minimum risk of a call; targets and code can raise it. Treat an unknown risk as `destructive`. */
            risk: components["schemas"]["OpenRisk"];
            /** @description JSON Schema of the arguments, of type object; at most 16 KiB. */
            schema: components["schemas"]["AnyObject"];
            /**
             * @description A text that changes when the function changes; at most 100 characters.
             * @default
             */
            version?: string;
        };
        /** @description Id of a person with an account. */
        UserId: string;
        /** @description A value and its frequency. */
        ValueCount: {
            /**
             * Format: uint64
             * @description Number of rows with this value.
             */
            count: number;
            /** @description The value. */
            value: components["schemas"]["AnyJson"];
        };
        /** @description A variable. */
        Variable: {
            /**
             * Format: uint64
             * @description Size in memory in bytes, without referenced objects; absent if it is expensive to compute.
             */
            bytes?: number | null;
            /** @description True if `read_table` can read it. */
            is_table?: boolean;
            /**
             * Format: uint64
             * @description Number of elements or characters; for containers and texts.
             */
            length?: number | null;
            /** @description Variable name. */
            name: string;
            /** @description Beginning of the value as text. `[hidden]`: the variable's name suggests a secret. */
            preview?: string | null;
            /** @description Length of each axis; for arrays and tables. */
            shape?: number[] | null;
            /** @description Type name, with its module unless it is a built-in of Python. */
            type: string;
        };
        /** @description Variables of a kernel: the user's own, without modules, functions, classes, and names that begin with `_`. */
        VariableList: {
            /**
             * Format: uint64
             * @description Number of further variables that were left out.
             */
            left_out?: number;
            /** @description Variables in the order of their first assignment; at most 200, the latest. */
            variables: components["schemas"]["Variable"][];
        };
        /** @description Result of a verification: reads the record up to a version and hashes every event. */
        Verification: {
            /** @description The hash of that event. */
            hash: components["schemas"]["Hash"];
            /** @description True if the hash chain is intact. */
            ok: boolean;
            /** @description Place and kind of the first break in the chain. */
            problem?: string | null;
            /** @description SHA-256 of the state after these events, as JSON: the same on every server that has the same events. */
            state_hash?: components["schemas"]["Hash"] | null;
            /** @description True if the served state equals the replayed one. Absent for past versions. */
            state_is_replayed?: boolean | null;
            /**
             * Format: uint64
             * @description Last version that is verified.
             */
            version: number;
        };
        /** @description A name for a version. */
        VersionName: {
            /** @description 1 to 255 characters on one line; replaces the name that the version has. */
            name: string;
            /**
             * Format: uint64
             * @description Version, from 1 to the notebook's current one.
             */
            version: number;
        };
        /** @description A waiting call with its notebook. */
        WaitingCall: {
            /** @description The call with its arguments; its state is `waiting`. */
            call: components["schemas"]["Call"];
            /** @description Effects of a confirmation. */
            confirmation: components["schemas"]["Confirmation"];
            /** @description Notebook id, for `POST /api/notebooks/{notebook}/calls/{call}/confirm`. */
            notebook: components["schemas"]["NotebookId"];
            /** @description The notebook's current title. */
            title: string;
        };
        /** @description A group of notebooks and people. */
        Workspace: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            created_at: number;
            /** @description Workspace id, chosen by the server. */
            id: components["schemas"]["WorkspaceId"];
            /** @description 1 to 100 characters on one line; not unique. */
            name: string;
            /** @description Your role in each of its notebooks. */
            role: components["schemas"]["Role"];
        };
        /** @description Id of a workspace: a group of notebooks and people. */
        WorkspaceId: string;
        /** @description Name of a workspace to create or rename; its creator is its owner. */
        WorkspaceName: {
            /** @description 1 to 100 characters on one line; not unique. */
            name: string;
        };
        /** @description A stored file. */
        WrittenFile: {
            /** @description Path below the working folder. */
            path: string;
            /** @description True if it replaced an existing file. */
            replaced: boolean;
            /** @description SHA-256 of its bytes, in lower-case hex. */
            sha256: string;
            /**
             * Format: uint64
             * @description Total size in bytes.
             */
            size_bytes: number;
        };
        /** @description Confirms a call. Needs a person, in a session or with a token that has the scope `confirm`. */
        Yes: {
            /** @description The call's `arguments_hash` as you saw it. */
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
                /** @description Name of the file. */
                filename?: string | null;
                /** @description Id of the new notebook, chosen by you; absent: derived from `Idempotency-Key`, else new. */
                id?: components["schemas"]["NotebookId"] | null;
                /** @description Title; absent: the title in the file, else the file's name. */
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
                /** @description True: each line has the notebook's current activity (`now`). */
                live?: boolean | null;
                /** @description True: each line has an excerpt with the found words (`found`); requires `text`. */
                snippets?: boolean | null;
                /** @description Order of the list; absent: the last changed first. */
                sort?: components["schemas"]["ListOrder"] | null;
                /** @description Search words, all of which must occur in title or sources. */
                text?: string | null;
                /** @description Only notebooks of this workspace. */
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
                /** @description A past version; absent: the current one. */
                at?: number | null;
                /** @description False: without outputs. */
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
                /** @description Upper bound: calls requested before this version, as in `next` of the page before. */
                before?: number | null;
                /** @description Only calls of this function, as in `delete_cell`. */
                function?: string | null;
                /** @description 1 to 200; absent: 50. */
                limit?: number | null;
                /** @description Only calls requested at this time or later, in milliseconds since 1970. */
                since?: number | null;
                /** @description Only calls in this state. */
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
                /** @description Expected `cell_version`; a cell with a newer one is not deleted. */
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
                /** @description Upper bound: messages posted before this version, as in `next` of the page before. */
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
                /** @description Lower bound: events after this version. Absent: from the beginning; for a stream, from now on. */
                after?: number | null;
                /** @description Size of a page, 1 to 1,000; absent: 200. */
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
                /** @description A past version; absent: the current one. */
                at?: number | null;
                /** @description File format; absent: `ipynb`. */
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
                /** @description Lower bound: the name after which the page begins, as in `next` of the page before. */
                after?: string | null;
                /** @description True: includes names that begin with a dot. */
                all?: boolean;
                /** @description Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Number of entries on the page, 1 to 1,000; absent: 200. */
                limit?: number | null;
                /** @description Path below the working folder; absent: that folder itself. */
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
                /** @description Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Path below the working folder, with `/` between folders; no `..`, and no `/` at the beginning. */
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
                /** @description Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Path below the working folder, with `/` between folders; no `..`, and no `/` at the beginning. */
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
                /** @description Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description True: an existing file is replaced. Otherwise it is refused (`file_exists`). */
                overwrite?: boolean;
                /** @description Path below the working folder, with `/` between folders. Missing folders are created. */
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
                /** @description Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Path below the working folder, with `/` between folders; no `..`, and no `/` at the beginning. */
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
                /** @description Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent. */
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
                /** @description Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent. */
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
                /** @description Kernel whose folder is used; absent: the kernel that a cell would run on now, else the only runtime agent. */
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
                /** @description Upper bound: runs requested before this version, as in `next` of the page before. */
                before?: number | null;
                /** @description Only runs of this cell. */
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
                /** @description Kernel that is asked; absent: the kernel that a cell would run on now. */
                kernel?: components["schemas"]["KernelSessionId"] | null;
                /** @description Returns only tables whose `schema.name` contains this text, ignoring case. */
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
                /** @description Upper bound: turns that began before this version, as in `next` of the page before. */
                before?: number | null;
                /** @description Only turns of this conversation. */
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
                /** @description Kernel that is asked; absent: the kernel that a cell would run on now. */
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
                /** @description A past version; absent: the current one. */
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
                /** @description The whole login; parts do not match. */
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
                /** @description Search words; each must begin a word of the name, or the login. 1 to 100 characters. */
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
                /** @description True: all accounts, the largest use of disk first; for administrators. */
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
