import Foundation

/// A server that speaks HTTP/2 over TLS, and sends exactly the frames of a test after a request.
///
/// Python brings TLS with it; the frames are written by hand.
struct HTTP2Server {
    static var isPossible: Bool {
        (try? Command("python3", "-c", "import ssl; ssl.PROTOCOL_TLS_SERVER").wait()) == 0  // any failure means "no"
    }

    let port: Int
    private let command: Command

    /// Starts listening; `frames` go out one after the other when the first request is there.
    ///
    /// They are hexadecimal, with how often in front: `1000*0000…`.
    init(certificate: String, frames: [String]) throws {
        let key = certificate.replacing("cert.pem", with: "key.pem")
        command = try Command(["python3", "-c", Self.program, certificate, key] + frames)
        guard let line = command.readLine(), let port = Int(line) else { throw OpenSSLServer.Unusable() }
        self.port = port
    }

    func stop() { command.stop() }

    private static let program = """
        import socket, ssl, struct, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.set_alpn_protocols(["h2"])
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)

        def take(stream, count):
            data = b""
            while len(data) < count:
                more = stream.recv(count - len(data))
                if not more: raise EOFError
                data += more
            return data

        def serve(plain):
            try:
                stream = context.wrap_socket(plain, server_side=True)
                take(stream, 24)
                stream.sendall(bytes.fromhex("000000040000000000"))
                while True:
                    head = take(stream, 9)
                    take(stream, int.from_bytes(head[:3], "big"))
                    if head[3] == 1: break
                for frame in sys.argv[3:]:
                    times, _, frame = frame.rpartition("*")
                    stream.sendall(bytes.fromhex(frame) * int(times or 1))
                while stream.recv(65536): pass
            except (EOFError, OSError): pass
            finally: plain.close()

        while True:
            plain, _ = listener.accept()
            threading.Thread(target=serve, args=(plain,), daemon=True).start()
        """
}
