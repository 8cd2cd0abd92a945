import AppStoreModel
import JobSyntax

extension JobFileReader {
    /// The sections that `sign` reads.
    static let signerKeys = ["version", "name", "app", "appStore"]

    /// Reads a job file without its other sections.
    func signerJob(_ root: JobNode) -> SignerJob? {
        guard let file = Section(root, keys: Self.signerKeys, problems: problems, paths: paths) else { return nil }
        _ = file.integer("version", in: 1...1, "it must be 1", isRequired: true)
        let name = jobName(file)
        let app = app(file)
        let appStore = appStore(file, app?.environment ?? .production)
        guard problems.isEmpty, let name, let app, let appStore else { return nil }
        return SignerJob(path: path, name: name, app: app, appStore: appStore)
    }
}
