import AppStoreModel
import HTTPTypes
import Hummingbird
import NIOCore

/// Finds the endpoint a request asks for.
///
/// Anything that is not one of Apple's three or the simulator's own is 404.
struct StoreResponder: HTTPResponder {
    let counter: StoreCounter
    let controls: Controls

    private static let historyPath = "/inApps/v2/history/"
    private static let refundPath = "/inApps/v2/refund/lookup/"
    private static let notificationPath = "/inApps/v1/notifications/history"
    private static let longestBody = 64 * 1_024

    func respond(to request: Request, context: StoreContext) async throws -> Response {
        let path = request.uri.path
        do {
            if path.hasPrefix("/simulator/") {
                return try await controls.respond(
                    to: request.method,
                    path: path,
                    body: try await Self.body(of: request)
                )
            }
            switch request.method {
            case .get where path.hasPrefix(Self.historyPath):
                return try await transactions(String(path.dropFirst(Self.historyPath.count)), request, context)
            case .get where path.hasPrefix(Self.refundPath):
                return try await refunds(String(path.dropFirst(Self.refundPath.count)), request, context)
            case .post where path == Self.notificationPath:
                return try await notifications(request, context)
            default:
                return Response(status: .notFound)
            }
        } catch let error as APIError {
            return .json(error.json, status: error.status)
        }
    }

    private func transactions(_ id: String, _ request: Request, _ context: StoreContext) async throws -> Response {
        let visit = Visit(endpoint: .transactionHistory, transactionId: id, authorization: request.authorization)
        return try await counter.serve(visit, context: context) { histories, now, _ throws(APIError) in
            try histories.transactions(of: id, query: QueryItems(request.uri.query), now: now)
        }
    }

    private func refunds(_ id: String, _ request: Request, _ context: StoreContext) async throws -> Response {
        let visit = Visit(endpoint: .refundHistory, transactionId: id, authorization: request.authorization)
        return try await counter.serve(visit, context: context) { histories, now, _ throws(APIError) in
            try histories.refunds(of: id, query: QueryItems(request.uri.query), now: now)
        }
    }

    private func notifications(_ request: Request, _ context: StoreContext) async throws -> Response {
        let body = try await Self.body(of: request)
        let visit = Visit(endpoint: .notificationHistory, transactionId: nil, authorization: request.authorization)
        return try await counter.serve(visit, context: context) { histories, now, lifetime throws(APIError) in
            try histories.notifications(
                body: body,
                query: QueryItems(request.uri.query),
                now: now,
                tokenLifetime: lifetime
            )
        }
    }

    private static func body(of request: Request) async throws -> [UInt8] {
        do {
            return Array(buffer: try await request.body.collect(upTo: longestBody))
        } catch is NIOTooManyBytesError {
            throw APIError.badRequest
        }
    }
}

extension Request {
    fileprivate var authorization: String? { headers[.authorization] }
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
