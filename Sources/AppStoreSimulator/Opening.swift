import AppStoreModel
import FoundationEssentials
import SignedData

/// Everything that happens before the doors open: the world is made, and the parts are put together.
struct Opening: Sendable {
    let responder: StoreResponder
    let files: PublishedFiles

    init(_ configuration: SimulatorConfiguration, now: @escaping @Sendable () -> UnixMilliseconds) throws {
        let directory = try StoreDirectory(configuration, now: now())
        let plan = try Self.faults(configuration.faultsFile)
        let file = directory.worldFile
        let world = World(parameters: file.parameters)
        let ids = world.customers.indices.map { world.ids.id(customer: $0, position: 0) }

        let authority = try directory.authority(now: now())
        let served = ServedWorld(world)
        for step in file.steps { _ = served.advance(by: step, at: file.parameters.anchor.rawValue) }

        let app = world.app
        let key = try directory.developerKey(of: app)
        let mint = CursorMint(seed: configuration.seed)
        let faults = FaultBook(plan)
        let log = ArrivalLog()
        let pages = PageLog()
        let counter = StoreCounter(
            histories: Histories(world: served, mint: mint),
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
                app: app,
                issuer: authority.issuer,
                mint: mint,
                issuers: try FalseIssuers(authority: authority, anchor: file.parameters.anchor),
                log: pages
            ),
            log: log,
            now: now
        )
        responder = StoreResponder(
            counter: counter,
            controls: Controls(
                world: served,
                issuer: authority.issuer,
                faults: faults,
                log: log,
                pages: pages,
                files: directory,
                now: now
            )
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
