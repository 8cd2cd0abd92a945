import HTTPTypes
import Hummingbird
import NIOCore

/// Finds the route of a request.
///
/// The answer is 404 for everything that is neither in the registry nor one of the simulator's own endpoints.
struct RouteResponder: HTTPResponder {
    let routes: [Route]
    let handler: RequestHandler
    let controls: Controls

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        let path = request.uri.path
        do {
            if path.hasPrefix("/simulator/") {
                return try await controls.respond(
                    to: request.method,
                    path: path,
                    body: try await Self.body(of: request)
                )
            }
            guard let (route, parameters) = route(request.method, path) else { return Response(status: .notFound) }
            let routeRequest = RouteRequest(
                route: route,
                parameters: parameters,
                queryText: request.uri.query,
                authorization: request.headers[.authorization],
                body: route.method == .get ? [] : try await Self.body(of: request, upTo: route.maximumBodyLength)
            )
            return try await handler.respond(to: routeRequest, context: context)
        } catch let error as APIError {
            return .json(error.json, status: error.status)
        }
    }

    /// The route whose path matches, with the path parameters; of several, the one with the longest part before a parameter.
    private func route(_ method: HTTPRequest.Method, _ path: String) -> (route: Route, parameters: [String: String])? {
        routes.filter { $0.method.rawValue == method.rawValue }
            .compactMap { route in route.path.values(in: path).map { (route, $0) } }
            .max { $0.0.path.prefix.utf8.count < $1.0.path.prefix.utf8.count }
    }

    private static func body(of request: Request, upTo length: Int = Route.usualBodyLength) async throws -> [UInt8] {
        do {
            return Array(buffer: try await request.body.collect(upTo: length))
        } catch is NIOTooManyBytesError {
            throw APIError.badRequest
        }
    }
}

extension Response {
    /// - `status`: The HTTP status code.
    static func json(_ bytes: [UInt8], status: Int = 200) -> Response {
        json(ByteBuffer(bytes: bytes), status: status)
    }

    static func json(_ buffer: ByteBuffer, status: Int = 200) -> Response {
        Response(
            status: HTTPResponse.Status(code: status),
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: buffer)
        )
    }
}
