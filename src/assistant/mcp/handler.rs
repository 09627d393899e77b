//! Handles each message of a client.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt;
use http::request::Parts;
use notarium_core::{Actor, Command, ConversationId, NotebookId, RawObject, Rejection, RejectionCode, Scope, word};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CreateTaskResult, DetailedTask,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use ulid::Ulid;

use super::resources::ResourceTarget;
use super::visitor::Visitor;
use super::{TokenOwner, creation, prompts, resources, tools, visitor};
use crate::assistants::{Called, ToolCaller, WantedCall};
use crate::host::NotebookHost;
use crate::instructions::{FACTS, OUTSIDE_RULES};

/// Timeout of a call's answer: the tools themselves wait up to 30 s, clients give up after about 60 s.
const CALL_PATIENCE: Duration = Duration::from_secs(45);
const MAX_TITLE_CHARS: usize = 80;

/// State of one session; in protocol versions without sessions, of one request.
pub struct Handler {
    caller: Arc<dyn ToolCaller>,
    host: Arc<dyn NotebookHost>,
    /// Conversation of a session; set by its first message.
    conversation: OnceLock<ConversationId>,
}

impl Handler {
    pub fn new(caller: Arc<dyn ToolCaller>, host: Arc<dyn NotebookHost>) -> Self {
        Self { caller, host, conversation: OnceLock::new() }
    }

    fn visitor(&self, context: &RequestContext<RoleServer>) -> Result<Visitor, ErrorData> {
        let unknown = || ErrorData::internal_error("the server did not say whose token this is", None);
        let parts = context.extensions.get::<Parts>().ok_or_else(unknown)?;
        let person = parts.extensions.get::<TokenOwner>().cloned().ok_or_else(unknown)?;
        if !person.scopes.contains(&Scope::Read) {
            return Err(ErrorData::invalid_request("this token lacks the scope read: use one that has it", None));
        }
        let conversation = match self.conversation.get() {
            Some(conversation) => conversation.clone(),
            // Without sessions, all calls of one token in a notebook are one conversation.
            None => conversation_of(&format!("mcp-{}", person.token_id))?,
        };
        let actor = Actor::Assistant { for_user: person.user_id.clone(), conversation };
        Ok(Visitor { actor, title: title(context.client_info()), notebook: connection_notebook(parts)?, person })
    }

    async fn called(&self, visitor: &Visitor, name: &str, arguments: JsonObject) -> Result<CallEnd, ErrorData> {
        match name {
            tools::AWAIT => Ok(CallEnd::of(self.awaited(visitor, arguments).await)),
            tools::LIST_NOTEBOOKS => Ok(CallEnd::of(self.listed_notebooks(visitor, &arguments).await)),
            _ => self.requested(visitor, name, arguments).await,
        }
    }

    async fn requested(&self, visitor: &Visitor, name: &str, mut arguments: JsonObject) -> Result<CallEnd, ErrorData> {
        if let Some(scope) = tools::missing_scope(name, &arguments, &visitor.person.scopes) {
            let message = format!(
                "this token lacks the scope {}, which {name} needs: the person can make one that has it",
                word(&scope)
            );
            return Ok(CallEnd::refused(&message));
        }
        let is_unplaced = arguments.get(tools::NOTEBOOK).is_none_or(Value::is_null);
        if name == tools::CREATE_NOTEBOOK && visitor.notebook.is_none() && is_unplaced {
            return Ok(CallEnd::of(self.created(visitor, arguments).await));
        }
        let notebook = match visitor::chosen(&self.host, visitor, &mut arguments).await {
            Ok(notebook) => notebook,
            Err(_) if tools::find(name).is_none() => return Err(unknown_tool(name)),
            Err(message) => return Ok(CallEnd::refused(&message)),
        };
        if name == tools::CREATE_NOTEBOOK
            && let Err(message) = admit_new_notebook(visitor, &mut arguments)
        {
            return Ok(CallEnd::refused(message));
        }
        let arguments = RawObject::parse(&Value::Object(arguments).to_string())
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let wanted = WantedCall {
            function: name.to_owned(),
            arguments,
            title: Some(visitor.title.clone()),
            token: Some(visitor.person.token_id.clone()),
        };
        match self.caller.call(&visitor.actor, &notebook, wanted, CALL_PATIENCE).await {
            Ok(called) => Ok(CallEnd::Called { notebook, called }),
            Err(rejection) if rejection.code == RejectionCode::UnknownTool => Err(unknown_tool(name)),
            Err(rejection) => Ok(CallEnd::refused(&rejection.message)),
        }
    }

    async fn created(&self, visitor: &Visitor, mut arguments: JsonObject) -> Result<CallToolResult, String> {
        arguments.shift_remove(tools::NOTEBOOK);
        let id = admit_new_notebook(visitor, &mut arguments)?;
        creation::create((&self.caller, &self.host), visitor, id, arguments, CALL_PATIENCE).await
    }

    /// Lists notebooks. Not recorded in a log, because nothing is changed.
    async fn listed_notebooks(&self, visitor: &Visitor, arguments: &JsonObject) -> Result<CallToolResult, String> {
        let query = match arguments.get("query") {
            Some(Value::String(query)) => Some(query.as_str()),
            Some(Value::Null) | None => None,
            Some(_) => return Err("query is a text".to_owned()),
        };
        let found = visitor::visible(&self.host, visitor, query).await.map_err(|rejection| rejection.message)?;
        Ok(tools::value(&json!({ "notebooks": found })))
    }

    async fn awaited(&self, visitor: &Visitor, mut arguments: JsonObject) -> Result<CallToolResult, String> {
        let notebook = visitor::chosen(&self.host, visitor, &mut arguments).await?;
        let call_id = arguments.get("call_id").and_then(Value::as_str);
        let call_id = call_id.ok_or("Missing required parameters: call_id")?;
        let call_id = call_id.parse().map_err(|_| "call_id is no id of a call")?;
        let seconds = match arguments.get("seconds") {
            None | Some(Value::Null) => Some(tools::DEFAULT_AWAIT_SECONDS),
            Some(seconds) => seconds.as_u64(),
        };
        let seconds = seconds.ok_or("seconds is a whole number from 0 to 60")?;
        let patience = Duration::from_secs(seconds.min(tools::MAX_AWAIT_SECONDS));
        let called = self.caller.await_call(&visitor.actor, &notebook, &call_id, patience).await;
        called.map(|called| tools::result(&called)).map_err(|rejection| rejection.message)
    }

    /// A call as a task: the client polls it with `tasks/get`, and may disconnect meanwhile.
    async fn task(&self, notebook: &NotebookId, called: &Called, id: String) -> Result<DetailedTask, ErrorData> {
        let call_id = tools::id_of(called);
        let events =
            self.host.events_of_subject(notebook, call_id.as_str()).await.map_err(|rejection| refusal(&rejection))?;
        let at = |stored: Option<&notarium_core::Stored>| {
            stored.map_or_else(|| self.host.now(), |it| it.envelope.recorded_at)
        };
        let task = tools::task(id, called, at(events.first()), at(events.last()));
        Ok(DetailedTask::new(task, tools::payload(called)))
    }

    async fn task_state(&self, visitor: &Visitor, task_id: &str) -> Result<DetailedTask, ErrorData> {
        let unknown = || ErrorData::invalid_params("there is no such task", None);
        let (notebook, call_id) = tools::call_of(task_id).ok_or_else(unknown)?;
        visitor.read(&self.host, &notebook).await.map_err(|_| unknown())?;
        let called = self.caller.await_call(&visitor.actor, &notebook, &call_id, Duration::ZERO).await;
        self.task(&notebook, &called.map_err(|_| unknown())?, task_id.to_owned()).await
    }
}

/// Result of a request for a call.
enum CallEnd {
    Answered(CallToolResult),
    Called { notebook: NotebookId, called: Called },
}

impl CallEnd {
    fn of(answer: Result<CallToolResult, String>) -> Self {
        answer.map_or_else(|message| Self::refused(&message), Self::Answered)
    }

    fn refused(message: &str) -> Self {
        Self::Answered(tools::refused(message))
    }
}

/// Chooses the new notebook's id here, so that the token can be checked against it. A token limited to some notebooks creates no others.
fn admit_new_notebook(visitor: &Visitor, arguments: &mut JsonObject) -> Result<NotebookId, &'static str> {
    let id = match arguments.get("notebook_id") {
        Some(Value::String(id)) => NotebookId::new(id).map_err(|_| "notebook_id is no id of a notebook")?,
        _ => Ulid::generate().into(),
    };
    if visitor.notebook.is_some() || !visitor.covers(&id) {
        return Err("this connection or its token is for certain notebooks alone: it makes no others");
    }
    arguments.insert("notebook_id".to_owned(), json!(id));
    Ok(id)
}

fn unknown_tool(name: &str) -> ErrorData {
    let name: String = name.chars().take(MAX_TITLE_CHARS).collect();
    ErrorData::invalid_params(format!("Unknown tool: {name}"), None)
}

fn refusal(rejection: &Rejection) -> ErrorData {
    ErrorData::invalid_params(rejection.message.clone(), None)
}

fn conversation_of(text: &str) -> Result<ConversationId, ErrorData> {
    ConversationId::new(text).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Reads `?notebook=ID` of the address.
fn connection_notebook(parts: &Parts) -> Result<Option<NotebookId>, ErrorData> {
    let mut pairs = parts.uri.query().unwrap_or_default().split('&');
    let id = pairs.find_map(|pair| pair.strip_prefix("notebook="));
    id.map(NotebookId::new).transpose().map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

fn title(client: Option<Implementation>) -> String {
    let name = client.map(|client| client.title.unwrap_or(client.name)).unwrap_or_default();
    let name: String = name.chars().filter(|character| !character.is_control()).take(MAX_TITLE_CHARS).collect();
    let name = name.trim();
    format!("{} (MCP)", if name.is_empty() { "An outside assistant" } else { name })
}

/// Catches a panic in the answer to one message: the client gets an error, and the session goes on.
async fn guarded<T>(answer: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!("a fault ended the answer to an outside assistant: its session goes on");
        let message = "the server made a mistake, and goes on: look whether it was done before you try again";
        Err(ErrorData::internal_error(message, None))
    })
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().enable_tasks().build();
        let server = Implementation::new("notarium", env!("CARGO_PKG_VERSION")).with_title("Notarium");
        ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_instructions(format!("{OUTSIDE_RULES}\n\n{FACTS}"))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.conversation.get_or_init(|| {
            let id = format!("mcp-{}", Ulid::generate());
            ConversationId::new(&id).unwrap_or_else(|_| Ulid::generate().into())
        });
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        guarded(async {
            let visitor = self.visitor(&context)?;
            let mut listed = tools::all(&visitor.person.scopes);
            // A connection for one notebook also lists that notebook's functions.
            if visitor.person.scopes.contains(&Scope::Run)
                && let Ok(notebook) = visitor::chosen(&self.host, &visitor, &mut JsonObject::new()).await
                && let Ok(state) = visitor.read(&self.host, &notebook).await
            {
                listed.extend(tools::functions(&state));
            }
            Ok(ListToolsResult::with_all_items(listed))
        })
        .await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let visitor = self.visitor(&context)?;
        let has_tasks = context.client_capabilities().is_some_and(|client| client.supports_tasks());
        let called = self.called(&visitor, &request.name, request.arguments.unwrap_or_default());
        match guarded(called).await? {
            CallEnd::Answered(result) => Ok(result.into()),
            CallEnd::Called { notebook, called } if has_tasks && !matches!(called, Called::Ended { .. }) => {
                let id = tools::task_id(&notebook, tools::id_of(&called));
                let task = self.task(&notebook, &called, id).await?.task;
                Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
            }
            CallEnd::Called { called, .. } => Ok(tools::result(&called).into()),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let visitor = self.visitor(&context)?;
        Ok(GetTaskResult::new(guarded(self.task_state(&visitor, &request.task_id)).await?))
    }

    /// Withdraws a call of this person's assistants that has not started. A call of another connection needs the right to edit.
    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let visitor = self.visitor(&context)?;
        self.task_state(&visitor, &request.task_id).await?;
        let unknown = || ErrorData::invalid_params("there is no such task", None);
        let (notebook, call_id) = tools::call_of(&request.task_id).ok_or_else(unknown)?;
        let state = visitor.read(&self.host, &notebook).await.map_err(|rejection| refusal(&rejection))?;
        if !state.tool_calls.get(&call_id).is_none_or(|call| visitor.may_take_back(call)) {
            return Err(ErrorData::invalid_request("this call is another's: it is not yours to take back", None));
        }
        let command =
            Command::WithdrawToolCall { call_id, detail: Some("the assistant's client cancelled it".to_owned()) };
        let sent = self.host.execute(&visitor.actor, &notebook, &command).await;
        sent.map(|_| ()).map_err(|rejection| refusal(&rejection))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(&request.name, &request.arguments.unwrap_or_default())?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let visitor = self.visitor(&context)?;
        let found = visitor::visible(&self.host, &visitor, None);
        let found = guarded(async { found.await.map_err(|rejection| refusal(&rejection)) }).await?;
        Ok(ListResourcesResult::with_all_items(resources::listed(&found)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let visitor = self.visitor(&context)?;
        let uri = request.uri;
        let unknown = |message: String| ErrorData::resource_not_found(message, Some(json!({ "uri": uri })));
        let target = ResourceTarget::parse(&uri).ok_or_else(|| unknown("no resource has this address".to_owned()))?;
        let read = resources::read(&self.host, &visitor, &uri, &target);
        let read = guarded(async { read.await.map_err(|rejection| unknown(rejection.message)) });
        Ok(read.await?.into())
    }
}
