import FoundationEssentials
import Glibc
import TestSupport

/// A PostgreSQL of the test's own that listens on loopback with TLS; its certificate says `db.test`.
struct TLSServer: Sendable {
    /// What its certificate is like.
    enum Certificate: String, Sendable {
        case good, expired, none
    }

    let port: Int
    let directory: String

    /// The authority of its certificates, and another that has signed nothing of it.
    var authority: String { directory + "/ca.pem" }
    var strangeAuthority: String { directory + "/other.pem" }

    /// The server by the name in its certificate.
    func conninfo(host: String = "db.test", user: String = "scram_user", _ more: String = "") -> String {
        "host=\(host) hostaddr=127.0.0.1 port=\(port) dbname=postgres user=\(user) password=planted-pass-word "
            + "sslmode=verify-full sslrootcert=\(authority) \(more)"
    }

    /// Runs a server during `body`; three roles may log in, each by one kind of password.
    static func running<Result>(
        _ certificate: Certificate = .good,
        _ body: (TLSServer) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            var server = TLSServer(port: try freePort(), directory: directory)
            // Another process can take the port before PostgreSQL listens on it.
            for attempt in 1...5 {
                do {
                    try await server.run(start, certificate.rawValue)
                    break
                } catch is Failed where attempt < 5 {
                    server = TLSServer(port: try freePort(), directory: directory)
                }
            }
            do {
                let result = try await body(server)
                try await server.run(stop, "")
                return result
            } catch {
                try await server.run(stop, "")
                throw error
            }
        }
    }

    static let isPossible = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    private func run(_ script: String, _ certificate: String) async throws {
        let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        let library = Executables.checkout + "/scripts/lib/postgres.sh"
        let arguments = ["-euc", script, "bash", library, directory, String(port), certificate]
        try await withChildProcess("/bin/bash", arguments, environment: environment) { process in
            let code = await process.wait()
            guard code == 0 else { throw Failed(words: process.errors + process.output) }
        }
    }

    struct Failed: Error {
        let words: String
    }

    private static let start = """
        . "$1"; directory=$2 port=$3 certificate=$4
        chmod 0755 "$directory"; cd "$directory"
        openssl ecparam -name prime256v1 -genkey -noout -out key.pem 2>/dev/null
        for name in ca other; do
            openssl req -x509 -new -key key.pem -subj "/CN=$name" -days 2 -out $name.pem
            openssl ecparam -name prime256v1 -genkey -noout -out server.key
            [[ $name == ca ]] && cp key.pem ca.key
            cp server.key key.pem
        done
        openssl req -new -key server.key -subj /CN=db.test -addext subjectAltName=DNS:db.test -out request.pem
        days=2; [[ $certificate != expired ]] || days=-1
        openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy \\
            -days "$days" -out server.crt 2>/dev/null

        rm -rf "$directory/cluster"
        bin=$(postgres_bindir); postgres_make_directory "$directory/cluster"; postgres_initialise "$directory/cluster" "$bin"
        data=$directory/cluster/data
        cp server.crt server.key "$data/"
        printf '%s\\n' 'local all all trust' 'host all clear_user all password' 'host all md5_user all md5' \\
            'host all scram_user all scram-sha-256' >"$data/pg_hba.conf"
        chmod 0600 "$data/server.key"; chown -R "$(postgres_owner)" "$data"
        ssl=on; [[ $certificate != none ]] || ssl=off
        postgres_make_directory "$directory/cluster/socket"
        postgres_as_owner "$bin/pg_ctl" start --wait --silent -D "$data" -l "$directory/cluster/log" -o "-c ssl=$ssl \\
            -c listen_addresses=127.0.0.1 -c port=$port -c fsync=off \\
            -c unix_socket_directories='$directory/cluster/socket'" </dev/null >/dev/null 2>&1
        "$bin/psql" -Xqh "$directory/cluster/socket" -p "$port" -U storeledger postgres <<SQL
        CREATE ROLE scram_user LOGIN PASSWORD 'planted-pass-word'; CREATE ROLE clear_user LOGIN PASSWORD 'planted-pass-word';
        SET password_encryption = md5; CREATE ROLE md5_user LOGIN PASSWORD 'planted-pass-word';
        SQL
        """

    private static let stop = """
        . "$1"; bin=$(postgres_bindir)
        if [[ -e $2/cluster/data/postmaster.pid ]]; then
            postgres_as_owner "$bin/pg_ctl" stop --wait --silent --mode=immediate -D "$2/cluster/data" >/dev/null
        fi
        """

    /// A port without a listener.
    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard bound else { throw Failed(words: "no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
