import FoundationEssentials

/// The textfile of Prometheus's node_exporter: read at any moment, so it is always whole.
enum MetricsFile {
    /// Writes beside the file and renames.
    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        // Whoever collects it is somebody else; there is nothing secret in it.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    }
}
