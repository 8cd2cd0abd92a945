import AppStoreModel
import FoundationEssentials
import SignedData

/// Builds the world and connects the parts of the simulator, before the port is opened.
struct SimulatorBootstrap: Sendable {
    let responder: AccountResponder
    /// Of each app, the first one last: a client that sees its `ready.json` can use all others.
    let files: [ClientFiles]
    /// Empty when the simulator posts no notifications.
    let posters: [NotificationPoster]

    init(
        _ configuration: SimulatorConfiguration,
        routes: [Route],
        now: @escaping @Sendable () -> UnixMilliseconds
    ) throws {
        let endpoints = routes.map(\.name)
        let faults = FaultRules(try Self.faults(configuration.faultsFile, endpoints: endpoints), endpoints: endpoints)
        let directories = try configuration.bundleIds.indices.map { place in
            try StoreDirectory(configuration, app: place, now: now())
        }
        // An account has one key, and Apple one certificate authority.
        let account = directories[0]
        let authority = try account.authority(now: now())
        let key = try account.developerKey(of: SimulatedApp(account.worldFile.parameters))
        let apps = try directories.map { directory in
            try SimulatedAppParts(
                directory,
                authority: authority,
                key: key.publicKey,
                faults: faults,
                configuration,
                routes: routes,
                now: now
            )
        }
        responder = AccountResponder(apps: apps.map { ($0.files.app.bundleId, $0.responder) })
        files = apps.reversed().map(\.files)
        posters = apps.compactMap(\.poster)
    }

    private static func faults(_ path: String?, endpoints: [EndpointName]) throws(SimulatorError) -> FaultPlan {
        guard let path else { return FaultPlan() }
        guard let text = try DirectoryFile.read(path) else {
            throw SimulatorError(.input, "Reading fault rules: there is no file \(path).")
        }
        return try FaultPlan(json: text, source: path, endpoints: endpoints)
    }
}

/// The world of one app, and what serves it.
private struct SimulatedAppParts {
    let responder: RouteResponder
    let files: ClientFiles
    /// `nil` when the simulator posts no notifications.
    let poster: NotificationPoster?

    init(
        _ directory: StoreDirectory,
        authority: CertificateAuthority,
        key: P256PublicKey,
        faults: FaultRules,
        _ configuration: SimulatorConfiguration,
        routes: [Route],
        now: @escaping @Sendable () -> UnixMilliseconds
    ) throws {
        let worldFile = directory.worldFile
        let world = World(parameters: worldFile.parameters)
        let ids = world.customers.indices.map { world.ids.id(customer: $0, position: 0) }
        let available = routes.filter { world.app.environment == .production ? $0.isInProduction : $0.isInSandbox }
        let orders = available.contains { $0.name == Route.orderLookup.name } ? world.exampleOrders.map(\.id) : []

        let app = world.app
        let deliveries = configuration.delivery.map { settings in
            DeliveryLog(
                journal: directory.deliveries,
                settings: settings,
                retries: app.environment == .production
            )
        }
        let served = try ServedWorld(
            world,
            steps: directory.steps,
            deliveries: deliveries
        ) { step throws(SimulatorError) in
            try directory.append(step)
        }

        let cursors = CursorCodec(seed: worldFile.parameters.seed)
        let arrivals = ArrivalLog(endpoints: routes.map(\.name))
        let answers = AnswerLog()
        let handler = RequestHandler(
            world: served,
            cursors: cursors,
            tokens: VerifiedTokens(
                BearerTokenVerifier(
                    publicKey: key,
                    keyId: app.keyId,
                    issuerId: app.issuerId,
                    bundleId: app.bundleId
                )
            ),
            limits: RateLimits(
                configuration.rateLimit,
                routes: routes,
                environment: configuration.environment.model,
                windowSeconds: configuration.windowSeconds
            ),
            faults: faults,
            responses: ResponseBuilder(
                app: app,
                issuer: authority.issuer,
                cursors: cursors,
                faultySigners: try FaultySigners(authority: authority, anchor: worldFile.parameters.anchor),
                log: answers
            ),
            log: arrivals,
            now: now
        )
        responder = RouteResponder(
            routes: available,
            handler: handler,
            controls: Controls(
                world: served,
                issuer: authority.issuer,
                faults: faults,
                log: arrivals,
                answers: answers,
                deliveries: deliveries,
                now: now
            )
        )
        poster = configuration.delivery.flatMap { settings in
            deliveries.map { log in
                NotificationPoster(settings: settings, app: app, issuer: authority.issuer, log: log, now: now)
            }
        }
        files = ClientFiles(
            directory: directory,
            account: worldFile.parameters.place == 0 ? "" : "../",
            app: app,
            root: authority.root.der,
            ids: ids,
            orders: orders,
            receipts: try ExampleReceipts(of: world, signedBy: authority),
            windowSeconds: configuration.windowSeconds
        )
    }
}
