import AppStoreModel
import FoundationEssentials
import SignedData

/// The directory of a simulated App Store: files for its clients, and the keys and parameters that it needs after a restart.
final class StoreDirectory: Sendable {
    let path: String
    let worldFile: WorldFile
    /// The steps of the world when the directory was opened.
    let steps: [WorldStep]
    private let journal: StepJournal

    /// Creates the directory, or reads the parameters of the world it contains.
    ///
    /// It removes an old `ready.json` first, so that no client starts before this process is ready.
    ///
    /// - `place`: The place of the app in ``SimulatorConfiguration/bundleIds``.
    init(_ configuration: SimulatorConfiguration, app place: Int = 0, now: UnixMilliseconds) throws(SimulatorError) {
        let bundleId = configuration.bundleIds[place]
        path = configuration.directory + (place == 0 ? "" : "/" + bundleId)
        let anchor = try configuration.anchorMoment()
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw SimulatorError(
                .output,
                "Creating the directory \(path) failed; its parent must exist and be writable."
            )
        }
        try DirectoryFile.remove(path + "/ready.json")
        let journal = StepJournal(path: path + "/steps.jsonl")
        let found = try Self.world(in: path, journal: journal)
        var wanted = WorldParameters(
            seed: place == 0 ? configuration.seed : Self.seed(ofApp: place, in: configuration.seed),
            customers: configuration.customers,
            transactionsPerCustomer: configuration.transactionsPerCustomer,
            environment: configuration.environment.model,
            anchor: anchor ?? found?.parameters.anchor ?? Moment.midnight(before: now),
            lateNotifications: configuration.lateNotifications,
            massExtensionRequests: configuration.massExtensionRequests,
            reviewRequests: configuration.reviewRequests,
            advancedCommerceSubscribers: configuration.advancedCommerceSubscribers,
            seatSubscribers: configuration.seatSubscribers,
            bundleId: bundleId,
            place: place,
            account: place == 0 ? nil : configuration.seed
        )
        if let found, found.parameters == wanted {
            steps = found.steps
        } else {
            if anchor == nil { wanted.anchor = Moment.midnight(before: now) }
            steps = []
            // A world without its steps would be another world, so it ends before they do.
            try DirectoryFile.remove(path + "/world.json")
            try DirectoryFile.remove(path + "/deliveries.jsonl")
        }
        worldFile = WorldFile(parameters: wanted)
        try journal.replace(with: steps)
        self.journal = journal
    }

    private static func seed(ofApp place: Int, in account: UInt64) -> UInt64 {
        var random = SplitMix64(seed: account, path: 16, UInt64(place))
        return random.next()
    }

    /// The attempts to deliver notifications of the world.
    var deliveries: DeliveryJournal { DeliveryJournal(path: path + "/deliveries.jsonl") }

    /// Makes a step durable.
    func append(_ step: WorldStep) throws(SimulatorError) { try journal.append(step) }

    /// The world that the directory contains; `nil` when there is none or a file is damaged.
    private static func world(
        in path: String,
        journal: StepJournal
    ) throws(SimulatorError) -> (parameters: WorldParameters, steps: [WorldStep])? {
        guard let file = try DirectoryFile.read(path + "/world.json").flatMap(WorldFile.init(json:)) else { return nil }
        if let steps = file.steps { return (file.parameters, steps) }
        guard let steps = try journal.steps else { return nil }
        return (file.parameters, steps)
    }

    /// The certificate authority of the directory, created when there is none.
    ///
    /// Its certificates are valid from long before the world's moment until long after `now`, because every answer in that time
    /// is signed with them.
    func authority(now: UnixMilliseconds) throws -> CertificateAuthority {
        let file = path + "/ca.pem"
        if let text = try DirectoryFile.read(file) {
            let known = try CertificateAuthority(pem: Secret(String(decoding: text, as: UTF8.self)))
            return known
        }
        let anchor = worldFile.parameters.anchor
        let last = max(anchor, now)
        let authority = try CertificateAuthority(
            root: .root(from: anchor - .days(4_200), to: last + .days(4_900)),
            intermediate: .intermediate(from: anchor - .days(2_000), to: last + .days(3_400)),
            leaf: .leaf(from: anchor - .days(420), to: last + .days(3_300))
        )
        try DirectoryFile.write(authority.pem.reveal(), to: file, mode: 0o600)
        return authority
    }

    /// The account's In-App Purchase key, created when there is none.
    func developerKey(of app: SimulatedApp) throws -> SigningKey {
        let file = path + "/" + keyFile(of: app)
        if FileManager.default.fileExists(atPath: file) { return try SigningKey.load(file: file) }
        let key = try SigningKey.generate()
        try DirectoryFile.write(key.pem.reveal(), to: file, mode: 0o600)
        return key
    }

    func keyFile(of app: SimulatedApp) -> String { "SubscriptionKey_\(app.keyId).p8" }
}
