import AppStoreModel
import JobSyntax

/// Where notifications are received: the section `receiver`.
package struct ReceiverSettings: Equatable, Sendable {
    package var listen: ListenAddress
    /// The path of the URL to which Apple or the proxy posts; it begins with `/`.
    package var path: String
    /// The file with the app's shared secret, for notifications of version 1; `nil` refuses these.
    package let sharedSecretFile: String?
    /// The further servers to which notifications are posted, each URL once.
    package var forwards: [Forward] = []

    package static let defaultPath = "/notifications"
    /// The receiver's own pages.
    package static let reservedPaths = ["/health", "/metrics"]

    package init(
        listen: ListenAddress = .standard,
        path: String = defaultPath,
        sharedSecretFile: String? = nil
    ) {
        self.listen = listen
        self.path = path
        self.sharedSecretFile = sharedSecretFile
    }

    /// What ``isPath(_:)`` accepts, as the rest of a sentence after "it must be".
    package static let pathRule =
        "a path such as \(defaultPath): / and further characters, without ? and #, and not \(reservedPaths.joined(separator: " or "))"

    /// Whether notifications can be posted to the path.
    package static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= 200 && !reservedPaths.contains(text)
            && text.utf8.allSatisfy {
                (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
            }
    }
}

/// An address and port on which a server listens.
package struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    /// A host name or address; an IPv6 address without brackets.
    package let host: String
    /// 0 for any free port.
    package let port: Int

    package static let standard = ListenAddress(host: "127.0.0.1", port: 8_090)

    /// What ``init(_:)`` accepts, as the rest of a sentence after "it must be".
    package static let rule = "an address and a port, such as \(standard) or [::1]:8090"

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `nil` unless the text has the form `host:port`; an IPv6 address is in brackets.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ isLetterOrDigit($0) || ".-:%".utf8.contains($0) }),
            (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy(isDigit), let port = Int(digits),
            port <= 65_535
        else { return nil }
        self.init(host: String(host), port: port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
