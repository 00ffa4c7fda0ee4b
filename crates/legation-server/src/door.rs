//! One way in: a method, a path and who answers. The router and its description are both held to the
//! list of these.

use crate::shared::Shared;
use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{self, MethodRouter};
use std::sync::Arc;

pub(crate) struct Door {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    leads_to: MethodRouter<Arc<Shared>>,
}

impl Door {
    pub(crate) fn get<H: Handler<T, Arc<Shared>>, T: 'static>(path: &'static str, handler: H) -> Door {
        Door { method: Method::GET, path, leads_to: routing::get(handler) }
    }

    pub(crate) fn post<H: Handler<T, Arc<Shared>>, T: 'static>(path: &'static str, handler: H) -> Door {
        Door { method: Method::POST, path, leads_to: routing::post(handler) }
    }

    pub(crate) fn put<H: Handler<T, Arc<Shared>>, T: 'static>(path: &'static str, handler: H) -> Door {
        Door { method: Method::PUT, path, leads_to: routing::put(handler) }
    }

    pub(crate) fn delete<H: Handler<T, Arc<Shared>>, T: 'static>(path: &'static str, handler: H) -> Door {
        Door { method: Method::DELETE, path, leads_to: routing::delete(handler) }
    }

    /// Puts it into the wall.
    pub(crate) fn into_wall(self, wall: Router<Arc<Shared>>) -> Router<Arc<Shared>> {
        wall.route(self.path, self.leads_to)
    }
}
