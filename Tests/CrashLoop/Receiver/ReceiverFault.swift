/// A fault that the crash loop injects into receivers of notifications.
enum ReceiverFault: String, CaseIterable, Sendable {
    /// SIGKILL of one receiver; it is started again.
    case kill = "SIGKILL"
    /// SIGTERM: the receiver must answer what it has accepted, and end with 0 within 10 s.
    case terminate = "SIGTERM"
    /// SIGSTOP for a moment, so that Apple does not wait for some answers.
    case pause = "SIGSTOP"
    /// SIGKILL of every receiver at once.
    case killAll = "SIGKILL of all"
    /// Connections are cut, so that answers are lost.
    case cutConnections = "connections cut"
    /// `kill -9` of a server process of PostgreSQL, which then restarts all of them.
    case killBackend = "PostgreSQL: kill -9 of a backend"
    /// `kill -9` of PostgreSQL's first process, then a restart.
    case killPostmaster = "PostgreSQL: kill -9 of the postmaster"
    /// `pg_ctl stop -m immediate`, then a restart.
    case stopPostgresAtOnce = "PostgreSQL: stop -m immediate"
    /// PostgreSQL's clock is set forward or back by hours or days, and corrected a moment later.
    case setClock = "PostgreSQL: clock set and corrected"
    /// `storeledger erase` of a customer whose notifications arrive meanwhile.
    case erase = "storeledger erase"
    /// The same, and SIGKILL of all receivers before it ends.
    case eraseAndKill = "storeledger erase, SIGKILL of all"
}
