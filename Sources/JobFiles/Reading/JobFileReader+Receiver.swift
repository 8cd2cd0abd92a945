import AppStoreModel
import JobSyntax

extension JobFileReader {
    /// The keys of a job file with a receiver and without streams.
    private static let receiverKeys = ["version", "name", "app", "appStore", "receiver", "output"]

    /// Reads a job file with a receiver and without streams.
    func receiverJob(_ root: JobNode) -> ReceiverJob? {
        guard let file = Section(root, keys: Self.receiverKeys, problems: problems, paths: paths) else { return nil }
        _ = file.integer("version", in: 1...1, "it must be 1", isRequired: true)
        let name = jobName(file)
        let app = app(file)
        let (server, roots) = trustedServer(file, app?.environment ?? .production)
        let receiver = receiver(file) ?? ReceiverSettings()
        let output = file.section(
            "output",
            keys: ["postgres"],
            required: "it must name postgres, the database of the ledger"
        )
        let postgres = output.flatMap(postgres)
        guard problems.isEmpty, let name, let app, let server, let postgres else { return nil }
        return ReceiverJob(
            path: path,
            name: name,
            app: app,
            baseURL: server.text,
            trustedRoots: roots,
            receiver: receiver,
            postgres: postgres,
            warnings: warnings
        )
    }

    /// Reads the section `receiver`; `nil` if it is missing or invalid.
    func receiver(_ file: Section) -> ReceiverSettings? {
        let keys = ["listen", "path", "sharedSecretFile", "forward"]
        guard let section = file.section("receiver", keys: keys) else { return nil }
        let listen = section.text("listen", "it must be \(ListenAddress.rule)") { ListenAddress($0) != nil }
        let path = section.text("path", "it must be \(ReceiverSettings.pathRule)", where: ReceiverSettings.isPath)
        let secret = section.path(
            "sharedSecretFile",
            "it must be the path of a file with the app's shared secret from App Store Connect",
            isSecret: true
        )
        var settings = ReceiverSettings(
            listen: listen.flatMap(ListenAddress.init) ?? .standard,
            path: path.map(paths.ofApp) ?? ReceiverSettings.defaultPath,
            sharedSecretFile: secret.map(paths.absolute)
        )
        settings.forwards = forwards(section, of: settings)
        return settings
    }

    /// The server of a job that sends no request, and the roots that it trusts.
    ///
    /// The other keys of the section are accepted and not needed, so that it can be copied from a crawl's job.
    private func trustedServer(
        _ file: Section,
        _ environment: AppStoreEnvironment
    ) -> (server: ServerAddress?, roots: [String]) {
        guard let section = file.section("appStore", keys: Self.appStoreKeys) else {
            return (ServerAddress(environment.baseURL, in: environment), [])
        }
        let server = server(section, environment)
        return (server, trustedRoots(section, server))
    }
}

extension JobNode {
    /// Whether the file with this root describes only a receiver.
    var isOfReceiver: Bool { self["receiver"] != nil && self["streams"] == nil && self["action"] == nil }
}
