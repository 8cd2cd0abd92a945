import AppStoreModel
import FoundationEssentials
import SignedData

/// Everything that happens before the doors open: the world is made and signed, and the parts are put together.
struct Opening: Sendable {
    let responder: StoreResponder
    let files: PublishedFiles

    init(_ configuration: SimulatorConfiguration, now: @escaping @Sendable () -> UnixMilliseconds) async throws {
        let directory = try StoreDirectory(configuration, now: now())
        let plan = try Self.faults(configuration.faultsFile)
        let file = directory.worldFile
        let world = World(parameters: file.parameters)
        let ids = world.customers.indices.map { world.ids.id(customer: $0, position: 0) }

        let authority = try directory.authority()
        let sealer = Sealer(issuer: authority.issuer)
        let signed = try await SignedWorld(
            world,
            sealer: sealer,
            width: ProcessInfo.processInfo.activeProcessorCount
        )
        for step in file.steps { _ = try signed.advance(by: step) }

        let app = world.app
        let key = try directory.developerKey(of: app)
        let mint = CursorMint(seed: configuration.seed)
        let faults = FaultBook(plan)
        let log = ArrivalLog()
        let pages = PageLog()
        let counter = StoreCounter(
            histories: Histories(world: signed, mint: mint),
            tokens: KnownTokens(
                BearerTokenVerifier(
                    publicKey: key.publicKey,
                    keyId: app.keyId,
                    issuerId: app.issuerId,
                    bundleId: app.bundleId
                )
            ),
            limits: RateLimits(
                configuration.rateLimit,
                environment: configuration.environment.model,
                windowSeconds: configuration.windowSeconds
            ),
            faults: faults,
            culprit: FaultyAnswers(
                world: signed,
                mint: mint,
                issuers: try FalseIssuers(authority: authority, genuine: sealer, anchor: file.parameters.anchor),
                log: pages
            ),
            log: log,
            now: now
        )
        responder = StoreResponder(
            counter: counter,
            controls: Controls(world: signed, faults: faults, log: log, pages: pages, files: directory)
        )
        files = PublishedFiles(
            directory: directory,
            app: app,
            root: authority.root.der,
            ids: ids,
            windowSeconds: configuration.windowSeconds
        )
    }

    private static func faults(_ path: String?) throws(SimulatorError) -> FaultPlan {
        guard let path else { return FaultPlan() }
        guard let text = try WholeFile.read(path) else {
            throw SimulatorError(.input, "Reading fault rules: there is no file \(path).")
        }
        return try FaultPlan(json: text, source: path)
    }
}
