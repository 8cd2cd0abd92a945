import FoundationEssentials
import TestSupport
import Testing

/// An S3 server on loopback with the bucket `ledger-bucket`; see Tests/ObjectStorage/server.py.
struct BucketServer: Sendable {
    static let missing = "python3, moto or boto3 is not installed; .ci/run installs them if it can"

    static func isInstalled() async -> Bool { await PythonScript.canImport("moto.server", "flask_cors", "boto3") }

    let folder: String
    /// The environment variables of clients: `owner` has every right, `stranger` none, `loader` temporary credentials.
    let clients: [String: [String: String]]

    static func with<Result>(_ stage: Stage, _ body: (BucketServer) async throws -> Result) async throws -> Result {
        let folder = stage.directory + "/bucket-server"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        return try await PythonScript.during("ObjectStorage/server.py", [folder]) { process in
            try #require(await process.outputLine(with: "listening") != nil, "\(process.errors)")
            let file = try Data(contentsOf: URL(filePath: folder + "/server.json"))
            let clients = try JSONDecoder().decode([String: [String: String]].self, from: file)
            return try await body(BucketServer(folder: folder, clients: clients))
        }
    }

    func client(_ name: String = "owner", _ changes: [String: String] = [:]) throws -> [String: String] {
        try #require(clients[name]).merging(changes) { $1 }
    }

    /// Replaces the rules, a JSON list.
    func setFaults(_ rules: String) throws {
        try Data(rules.utf8).write(to: URL(filePath: folder + "/faults.json"), options: .atomic)
    }

    /// A line for each request: method and target.
    func requests() throws -> [Substring] {
        guard let log = FileManager.default.contents(atPath: folder + "/requests.txt") else { return [] }
        return String(decoding: log, as: UTF8.self).split(separator: "\n")
    }

    /// What is under a prefix, downloaded into a new folder and checked against its manifest.
    ///
    /// - Returns: The folder, the names, and the unfinished uploads.
    func fetch(_ prefix: String) async throws -> (folder: String, names: [String], uploads: Int) {
        let target = "\(folder)/fetched-\(UUID().uuidString)"
        let lines = try await PythonScript.run("ObjectStorage/fetch.py", folder, prefix, target).split(separator: "\n")
        let names = lines.filter { !$0.hasPrefix("upload ") }.map(String.init)
        return (target, names.sorted(), lines.count - names.count)
    }
}
