//! rondo from Rust: chat messages to token ids and back.
//!
//! A safe layer over the C API.  Messages are JSON text, and so are the messages that come back; ids are `Vec<i32>`.
//! A `Model` and the library behind it are shared between threads; a `Rollout` lets one thread in at a time.
mod sys;

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::fmt;
use std::ptr::null;
use std::sync::Arc;

/// What went wrong: a status of rondo.h, and all of it for people.
#[derive(Debug)]
pub struct Error {
    pub status: i32,
    pub line: i32,
    pub message: String,
    pub shown: String,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.shown)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// A prompt as ids; both vectors have an entry per id.
pub struct Encoded {
    pub ids: Vec<i32>,
    pub sampled_mask: Vec<u8>,
}

const NO_TEXT: sys::Text = sys::Text {
    data: null(),
    size: 0,
};

fn text(from: &str) -> sys::Text {
    sys::Text {
        data: from.as_ptr().cast(),
        size: from.len(),
    }
}

fn ids(from: &[i32]) -> sys::Ids {
    sys::Ids {
        data: from.as_ptr(),
        size: from.len(),
    }
}

/// REQUIRES: what a function of the library has given out, of a result that is open.
unsafe fn string(from: sys::Text) -> String {
    if from.size == 0 {
        return String::new();
    }
    String::from_utf8_lossy(std::slice::from_raw_parts(from.data.cast(), from.size)).into_owned()
}

fn new_error() -> sys::Error {
    sys::Error {
        struct_size: std::mem::size_of::<sys::Error>(),
        status: 0,
        line: 0,
        column: 0,
        has_offset: 0,
        offset: 0,
        message: NO_TEXT,
        source: NO_TEXT,
        hint: NO_TEXT,
        shown: NO_TEXT,
        memory: std::ptr::null_mut(),
    }
}

/// Calls `work` with a place for an error, and takes what stands there.
fn checked(work: impl FnOnce(*mut sys::Error) -> i32) -> Result<()> {
    let mut error = new_error();
    let status = work(&mut error);
    let told = Error {
        status,
        line: error.line,
        message: unsafe { string(error.message) },
        shown: unsafe { string(error.shown) },
    };
    unsafe { sys::rondo_error_clear(&mut error) };
    if status == 0 {
        Ok(())
    } else {
        Err(told)
    }
}

/// The library behind models, closed with the last of them.
struct Library(UnsafeCell<sys::Library>);

// The C API lets any thread in, but for opening and closing.
unsafe impl Send for Library {}
unsafe impl Sync for Library {}

impl Library {
    fn open() -> Result<Arc<Library>> {
        assert_eq!(
            unsafe { sys::rondo_abi_version() },
            sys::ABI_VERSION,
            "another librondo is linked"
        );
        let library = Arc::new(Library(UnsafeCell::new(sys::Library { state: [0, 0] })));
        checked(|error| unsafe {
            sys::rondo_library_open(library.raw(), null::<c_void>(), error)
        })?;
        Ok(library)
    }

    fn raw(&self) -> *mut sys::Library {
        self.0.get()
    }

    /// A result of `work`, read by `read` and closed.
    fn answer<T>(
        &self,
        work: impl FnOnce(*mut sys::Handle, *mut sys::Error) -> i32,
        read: impl FnOnce(sys::Handle) -> T,
    ) -> Result<T> {
        let mut result = sys::Handle { handle: 0 };
        checked(|error| work(&mut result, error))?;
        let out = read(result);
        unsafe { sys::rondo_result_close(self.raw(), result) };
        Ok(out)
    }

    fn text_of(&self, result: sys::Handle) -> String {
        let mut out = NO_TEXT;
        unsafe {
            sys::rondo_result_text(self.raw(), result, &mut out);
            string(out)
        }
    }

    fn json_of(&self, result: sys::Handle) -> String {
        let mut out = NO_TEXT;
        unsafe {
            sys::rondo_result_json(self.raw(), result, &mut out);
            string(out)
        }
    }

    fn encoded_of(&self, result: sys::Handle) -> Encoded {
        let mut mask = sys::Mask {
            data: null(),
            size: 0,
        };
        unsafe { sys::rondo_result_sampled_mask(self.raw(), result, &mut mask) };
        let sampled_mask = match mask.size {
            0 => Vec::new(),
            size => unsafe { std::slice::from_raw_parts(mask.data, size) }.to_vec(),
        };
        Encoded {
            ids: self.ids_of(result),
            sampled_mask,
        }
    }

    fn ids_of(&self, result: sys::Handle) -> Vec<i32> {
        let mut out = sys::Ids {
            data: null(),
            size: 0,
        };
        unsafe { sys::rondo_result_ids(self.raw(), result, &mut out) };
        match out.size {
            0 => Vec::new(),
            size => unsafe { std::slice::from_raw_parts(out.data, size) }.to_vec(),
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        unsafe { sys::rondo_library_close(self.raw()) };
    }
}

fn chat(messages: &str) -> sys::Chat {
    sys::Chat {
        struct_size: std::mem::size_of::<sys::Chat>(),
        messages: text(messages),
        tools: NO_TEXT,
        documents: NO_TEXT,
        kwargs: NO_TEXT,
        options: NO_TEXT,
    }
}

/// A template and a tokenizer.
pub struct Model {
    library: Arc<Library>,
    handle: sys::Handle,
}

impl Model {
    /// From a model folder or a .gguf.
    pub fn open(path: &str) -> Result<Model> {
        let library = Library::open()?;
        let options = sys::ModelOptions {
            struct_size: std::mem::size_of::<sys::ModelOptions>(),
            path: text(path),
            chat_template: NO_TEXT,
            template_text: NO_TEXT,
            tokenizer: NO_TEXT,
            tokenizer_json: NO_TEXT,
            tokenizer_config: NO_TEXT,
            generation_config: NO_TEXT,
            options: NO_TEXT,
        };
        let mut handle = sys::Handle { handle: 0 };
        checked(|error| unsafe {
            sys::rondo_model_open(library.raw(), &options, &mut handle, error)
        })?;
        Ok(Model { library, handle })
    }

    pub fn encode(&self, messages: &str) -> Result<Encoded> {
        let library = &self.library;
        library.answer(
            |result, error| unsafe {
                sys::rondo_encode(library.raw(), self.handle, &chat(messages), result, error)
            },
            |result| library.encoded_of(result),
        )
    }

    pub fn tokenize(&self, from: &str) -> Result<Vec<i32>> {
        let library = &self.library;
        library.answer(
            |result, error| unsafe {
                sys::rondo_tokenize(
                    library.raw(),
                    self.handle,
                    text(from),
                    NO_TEXT,
                    result,
                    error,
                )
            },
            |result| library.ids_of(result),
        )
    }

    pub fn detokenize(&self, from: &[i32]) -> Result<String> {
        let library = &self.library;
        library.answer(
            |result, error| unsafe {
                sys::rondo_detokenize(
                    library.raw(),
                    self.handle,
                    ids(from),
                    NO_TEXT,
                    result,
                    error,
                )
            },
            |result| library.text_of(result),
        )
    }

    /// How many handles are open beside this model's.
    pub fn open_handles(&self) -> usize {
        let mut count = 0;
        unsafe { sys::rondo_library_handles(self.library.raw(), &mut count) };
        count.saturating_sub(1)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { sys::rondo_model_close(self.library.raw(), self.handle) };
    }
}

/// A conversation that grows as ids.
pub struct Rollout {
    library: Arc<Library>,
    handle: sys::Handle,
}

impl Rollout {
    pub fn open(model: &Model, messages: &str) -> Result<Rollout> {
        let library = model.library.clone();
        let mut handle = sys::Handle { handle: 0 };
        checked(|error| unsafe {
            sys::rondo_rollout_open(
                library.raw(),
                model.handle,
                &chat(messages),
                &mut handle,
                error,
            )
        })?;
        Ok(Rollout { library, handle })
    }

    /// What was sampled behind the ids; the message, as JSON text.
    pub fn complete(&self, completion: &[i32]) -> Result<String> {
        let library = &self.library;
        library.answer(
            |result, error| unsafe {
                sys::rondo_rollout_complete(
                    library.raw(),
                    self.handle,
                    ids(completion),
                    result,
                    error,
                )
            },
            |result| library.json_of(result),
        )
    }

    /// What follows, a JSON array of messages; the ids that were appended.
    pub fn extend(&self, new_messages: &str) -> Result<Vec<i32>> {
        let library = &self.library;
        library.answer(
            |result, error| unsafe {
                sys::rondo_rollout_extend(
                    library.raw(),
                    self.handle,
                    text(new_messages),
                    NO_TEXT,
                    result,
                    error,
                )
            },
            |result| library.ids_of(result),
        )
    }

    /// All ids so far, and which of them were sampled.
    pub fn state(&self) -> Result<Encoded> {
        let library = &self.library;
        library.answer(
            |result, error| unsafe {
                sys::rondo_rollout_state(library.raw(), self.handle, result, error)
            },
            |result| library.encoded_of(result),
        )
    }
}

impl Drop for Rollout {
    fn drop(&mut self) {
        unsafe { sys::rondo_rollout_close(self.library.raw(), self.handle) };
    }
}
