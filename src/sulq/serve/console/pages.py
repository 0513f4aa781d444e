"""All pages of the console: signing in and out, what they load, and those of analysts and of the owner."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from sulq.serve.console.analyst_pages import add_analyst_pages
from sulq.serve.console.owner_pages import add_owner_pages
from sulq.serve.console.visiting import COOKIE, FOLDER, HEADERS, HOME, Visiting, found_at
from sulq.serve.refusals import RefusedError
from sulq.serve.service import Service

MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript"}


def console_routes(service: Service) -> APIRouter:
    """The pages of a service.

    Args:
        service: the service.
    """
    visiting = Visiting(service)
    router = APIRouter(prefix=HOME, route_class=visiting.route(), include_in_schema=False)
    files = {
        path.name: (path.read_bytes(), MEDIA_TYPES[path.suffix])
        for path in (FOLDER / "static").iterdir()
        if path.suffix in MEDIA_TYPES
    }

    @router.get("/static/{name}")
    async def static(name: str) -> Response:
        """A style sheet or a script."""
        if name not in files:
            raise RefusedError("not_found", "there is nothing at this address")
        content, media_type = files[name]
        headers = HEADERS | {"cache-control": "public, max-age=3600"}
        return Response(content, media_type=media_type, headers=headers)

    @router.get("/sign-in")
    async def sign_in_page(request: Request) -> Response:
        """Where one shows a key."""
        return visiting.public_page(request, "sign_in.html", 200, message="")

    @router.post("/sign-in")
    async def sign_in(request: Request) -> Response:
        """Begin a session with a key. The browser keeps a random id, never the key."""
        form = await visiting.form(request)
        try:
            key = await service.work(lambda: service.keys.of(form.one("key")))
        except RefusedError as refusal:
            request.state.code = refusal.code
            return visiting.public_page(request, "sign_in.html", refusal.status, message=str(refusal))
        visiting.sessions.end(request.cookies.get(COOKIE, ""))
        response = found_at("")
        visiting.remember(response, visiting.sessions.begin(key))
        return response

    @router.post("/sign-out")
    async def sign_out(request: Request) -> Response:
        """End a session."""
        await visiting.form(request)
        visiting.sessions.end(request.cookies.get(COOKIE, ""))
        response = found_at("/sign-in")
        response.delete_cookie(COOKIE, path=HOME, httponly=True, samesite="strict", secure=visiting.secure)
        return response

    add_analyst_pages(router, visiting)
    add_owner_pages(router, visiting)
    return router
