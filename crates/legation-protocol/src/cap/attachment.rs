//! Attachments (Message Schema): data that is carried along. Nothing here opens a path, fetches a
//! URL or unpickles an object.

use super::member::{filled, name};
use crate::code::Code;
use crate::json::Json;
use crate::read::{At, Extra, Object, any_text, json, text};
use serde::Serialize;

/// The most bytes of JSON text a `python_object` may have.
pub const MAX_OBJECT: usize = 64 * 1024;

/// Something a message carries along (Message Schema).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Attachment {
    /// What a tool answered, as the sender tells it.
    ToolCallResult(ToolCallResult),
    /// A file by path or URL.
    File(File),
    /// A Python object as JSON.
    PythonObject(PythonObject),
    /// A block of text.
    TextSnippet(TextSnippet),
    /// An attachment of a type the spec does not list.
    #[serde(untagged)]
    Other(Other),
}

/// The answer of an MCP tool (MCP Integration).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolCallResult {
    /// The server that ran the tool.
    pub server_id: String,
    /// The tool.
    pub tool: String,
    /// What it answered: any JSON.
    pub result: Json,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file that is somewhere else. Has a path, a URL or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct File {
    /// Where the sender keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Where it can be fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A Python object, of at most [`MAX_OBJECT`] bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PythonObject {
    /// The object: any JSON.
    pub object: Json,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A block of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextSnippet {
    /// The text, which may be empty.
    pub text: String,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An attachment of a type the spec does not list, kept as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Other {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// All else of it.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Attachment {
    /// What a tool answered.
    pub fn tool_call_result(server_id: impl Into<String>, tool: impl Into<String>, result: Json) -> Attachment {
        let (server_id, tool) = (server_id.into(), tool.into());
        Attachment::ToolCallResult(ToolCallResult { server_id, tool, result, extra: Extra::new() })
    }

    /// A file by its path.
    pub fn file_at(path: impl Into<String>) -> Attachment {
        Attachment::File(File { path: Some(path.into()), url: None, extra: Extra::new() })
    }

    /// A file by its URL.
    pub fn file_from(url: impl Into<String>) -> Attachment {
        Attachment::File(File { path: None, url: Some(url.into()), extra: Extra::new() })
    }

    /// A Python object as JSON.
    pub fn python_object(object: Json) -> Attachment {
        Attachment::PythonObject(PythonObject { object, extra: Extra::new() })
    }

    /// A block of text.
    pub fn text_snippet(text: impl Into<String>) -> Attachment {
        Attachment::TextSnippet(TextSnippet { text: text.into(), extra: Extra::new() })
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<Attachment> {
        let mut o = At { spec: "CAP Message Schema", ..at }.object()?;
        let kind = o.required("type", filled)?;
        match &*kind {
            "tool_call_result" => ToolCallResult::read(o).map(Attachment::ToolCallResult),
            "file" => Some(Attachment::File(File::read(o))),
            "python_object" => PythonObject::read(o).map(Attachment::PythonObject),
            "text_snippet" => TextSnippet::read(o).map(Attachment::TextSnippet),
            _ => Some(Attachment::Other(Other::read(kind.into_owned(), o))),
        }
    }
}

impl ToolCallResult {
    fn read(mut o: Object<'_, '_>) -> Option<ToolCallResult> {
        let server_id = o.required("server_id", name);
        let tool = o.required("tool", name);
        let result = o.required("result", json);
        Some(ToolCallResult { server_id: server_id?, tool: tool?, result: result?, extra: o.extra() })
    }
}

impl File {
    fn read(mut o: Object<'_, '_>) -> File {
        if o.node.get("path").is_none() && o.node.get("url").is_none() {
            o.out
                .at(
                    Code::SchemaInvalid,
                    o.node,
                    "CAP Message Schema",
                    "a file has a path or a URL, and this has neither",
                )
                .help("add \"path\" or \"url\"");
        }
        let path = o.optional("path", text);
        let url = o.optional("url", text);
        File { path, url, extra: o.extra() }
    }
}

impl PythonObject {
    fn read(mut o: Object<'_, '_>) -> Option<PythonObject> {
        let object = o.required("object", |at| match at.node.raw().len() {
            0..=MAX_OBJECT => json(at),
            bytes => at.fail_with(
                Code::AttachmentTooLarge,
                format!("a python_object has at most {MAX_OBJECT} bytes of JSON, and this has {bytes}"),
                "send less of it, or a \"file\" that points to it",
            ),
        });
        Some(PythonObject { object: object?, extra: o.extra() })
    }
}

impl TextSnippet {
    fn read(mut o: Object<'_, '_>) -> Option<TextSnippet> {
        let text = o.required("text", any_text);
        Some(TextSnippet { text: text?, extra: o.extra() })
    }
}

impl Other {
    fn read(kind: String, mut o: Object<'_, '_>) -> Other {
        o.wrong(Code::UnknownAttachment, "type", "CAP Message Schema", "the spec lists no attachment of this type")
            .help("use \"tool_call_result\", \"file\", \"python_object\" or \"text_snippet\" if one of them fits")
            .warning();
        Other { kind, extra: o.extra() }
    }
}
