-- What is the schema of version 0.1.0?
--
-- Tables and indexes. Functions, and the triggers that call them, are in sql/functions, comments in sql/comments.

-- Which purchases, refunds, renewals and notifications has Apple signed, and what could not be loaded?
--
-- Runs with search_path set to the job's schema, so no name here has one.
-- Names are Apple's in snake_case. Enumerations are open sets: no CHECK refuses a value Apple adds tomorrow.
-- app_id leads every key, so that one database holds many apps and can be distributed by it.
CREATE TABLE apps (
    app_id        integer GENERATED ALWAYS AS IDENTITY,
    bundle_id     text    NOT NULL,
    environment   text    NOT NULL,
    app_apple_id  bigint,
    server        text,
    trusted_roots text[],
    PRIMARY KEY (app_id),
    UNIQUE (bundle_id, environment)
);

CREATE TABLE transactions (
    app_id                                           integer     NOT NULL,
    transaction_id                                   text        NOT NULL,
    original_transaction_id                          text,
    previous_original_transaction_id                 text,
    web_order_line_item_id                           text,
    app_transaction_id                               text,
    bundle_id                                        text,
    environment                                      text,
    product_id                                       text,
    subscription_group_identifier                    text,
    type                                             text,
    transaction_reason                               text,
    in_app_ownership_type                            text,
    quantity                                         integer,
    price_milliunits                                 bigint,
    currency                                         text,
    storefront                                       text,
    storefront_id                                    text,
    app_account_token                                uuid,
    purchase_date                                    timestamptz,
    original_purchase_date                           timestamptz,
    expires_date                                     timestamptz,
    is_upgraded                                      boolean,
    offer_type                                       integer,
    offer_identifier                                 text,
    offer_discount_type                              text,
    offer_period                                     text,
    revocation_date                                  timestamptz,
    revocation_reason                                integer,
    revocation_type                                  text,
    revocation_percentage_milliunits                 integer,
    billing_plan_type                                text,
    commitment_billing_period_number                 integer,
    commitment_total_billing_periods                 integer,
    commitment_expires_date                          timestamptz,
    commitment_price_milliunits                      bigint,
    advanced_commerce_request_reference_id           text,
    advanced_commerce_period                         text,
    advanced_commerce_tax_code                       text,
    advanced_commerce_tax_rate                       text,
    advanced_commerce_tax_exclusive_price_milliunits bigint,
    advanced_commerce_estimated_tax_milliunits       bigint,
    advanced_commerce_description                    text,
    advanced_commerce_display_name                   text,
    signed_date                                      timestamptz NOT NULL,
    payload_sha256                                   bytea       NOT NULL,
    payload                                          jsonb       NOT NULL,
    source                                           text,
    listed_transaction_id                            text,
    first_seen_at                                    timestamptz NOT NULL DEFAULT now(),
    last_changed_at                                  timestamptz DEFAULT now(),
    last_run_id                                      bigint,
    content_hash                                     bytea,
    additional_transaction_reason                    text,
    invitation_management                            text,
    revoked_seat_quantity                            integer,
    PRIMARY KEY (app_id, transaction_id)
);
ALTER TABLE transactions ALTER COLUMN payload SET STATISTICS 0;
CREATE INDEX transactions_original_transaction_id ON transactions (app_id, original_transaction_id);
CREATE INDEX transactions_purchase_date ON transactions (app_id, purchase_date);
CREATE INDEX transactions_product_id ON transactions (app_id, product_id);
CREATE INDEX transactions_app_account_token ON transactions (app_id, app_account_token);
-- Ways from one record of a customer to the others; a customer's rows arrive together, so both grow at one place.
CREATE INDEX transactions_app_transaction_id ON transactions (app_id, app_transaction_id);
CREATE INDEX transactions_listed_transaction_id ON transactions (app_id, listed_transaction_id);
CREATE INDEX transactions_family_shared ON transactions (app_id, purchase_date) WHERE (in_app_ownership_type = 'FAMILY_SHARED');
-- Which few transactions of millions were refunded, or shared by a family?
--
-- Found by scripts/views-bench: without these, refunded_purchases and family_sharing_by_month read the whole table for one
-- row in fifty. Both are partial, so that most transactions cost nothing when they are loaded.
CREATE INDEX transactions_revoked ON transactions (app_id, revocation_date) INCLUDE (transaction_id, revocation_type) WHERE (revocation_date IS NOT NULL);
-- Which subscriptions have several seats, or periods to which seats were added?
--
-- The view seat_purchases reads these transactions alone. Most ledgers have few or none.
CREATE INDEX transactions_seats ON transactions (app_id, original_transaction_id, transaction_id) WHERE ((type = 'Auto-Renewable Subscription') AND ((quantity > 1) OR (additional_transaction_reason IS NOT NULL)));

CREATE TABLE refunds (
    app_id                           integer     NOT NULL,
    transaction_id                   text        NOT NULL,
    original_transaction_id          text,
    web_order_line_item_id           text,
    app_transaction_id               text,
    product_id                       text,
    subscription_group_identifier    text,
    type                             text,
    in_app_ownership_type            text,
    quantity                         integer,
    price_milliunits                 bigint,
    currency                         text,
    storefront                       text,
    storefront_id                    text,
    app_account_token                uuid,
    purchase_date                    timestamptz,
    original_purchase_date           timestamptz,
    revocation_date                  timestamptz,
    revocation_reason                integer,
    revocation_type                  text,
    revocation_percentage_milliunits integer,
    signed_date                      timestamptz NOT NULL,
    payload_sha256                   bytea       NOT NULL,
    payload                          jsonb       NOT NULL,
    first_seen_at                    timestamptz NOT NULL DEFAULT now(),
    last_changed_at                  timestamptz DEFAULT now(),
    last_run_id                      bigint,
    content_hash                     bytea,
    PRIMARY KEY (app_id, transaction_id)
);
ALTER TABLE refunds ALTER COLUMN payload SET STATISTICS 0;
CREATE INDEX refunds_original_transaction_id ON refunds (app_id, original_transaction_id);
CREATE INDEX refunds_revocation_date ON refunds (app_id, revocation_date);
CREATE INDEX refunds_app_transaction_id ON refunds (app_id, app_transaction_id);
CREATE INDEX refunds_app_account_token ON refunds (app_id, app_account_token);

CREATE TABLE renewals (
    app_id                                 integer     NOT NULL,
    original_transaction_id                text        NOT NULL,
    app_transaction_id                     text,
    environment                            text,
    product_id                             text,
    auto_renew_product_id                  text,
    auto_renew_status                      integer,
    expiration_intent                      integer,
    is_in_billing_retry_period             boolean,
    grace_period_expires_date              timestamptz,
    price_increase_status                  integer,
    recent_subscription_start_date         timestamptz,
    renewal_date                           timestamptz,
    renewal_price_milliunits               bigint,
    currency                               text,
    renewal_billing_plan_type              text,
    offer_type                             integer,
    offer_identifier                       text,
    offer_discount_type                    text,
    offer_period                           text,
    eligible_win_back_offer_ids            text[],
    app_account_token                      uuid,
    commitment_auto_renew_product_id       text,
    commitment_auto_renew_status           integer,
    commitment_renewal_billing_plan_type   text,
    commitment_renewal_date                timestamptz,
    commitment_renewal_price_milliunits    bigint,
    advanced_commerce_request_reference_id text,
    advanced_commerce_consistency_token    text,
    advanced_commerce_period               text,
    advanced_commerce_tax_code             text,
    advanced_commerce_description          text,
    advanced_commerce_display_name         text,
    signed_date                            timestamptz NOT NULL,
    payload_sha256                         bytea       NOT NULL,
    payload                                jsonb       NOT NULL,
    first_seen_at                          timestamptz NOT NULL DEFAULT now(),
    last_changed_at                        timestamptz DEFAULT now(),
    last_run_id                            bigint,
    content_hash                           bytea,
    renewal_quantity                       integer,
    PRIMARY KEY (app_id, original_transaction_id)
);
ALTER TABLE renewals ALTER COLUMN payload SET STATISTICS 0;
CREATE INDEX renewals_renewal_date ON renewals (app_id, renewal_date);
CREATE INDEX renewals_auto_renew_product_id ON renewals (app_id, auto_renew_product_id);
CREATE INDEX renewals_app_transaction_id ON renewals (app_id, app_transaction_id);

CREATE TABLE notifications (
    app_id                                       integer     NOT NULL,
    notification_uuid                            text        NOT NULL,
    notification_type                            text,
    subtype                                      text,
    version                                      text,
    bundle_id                                    text,
    app_apple_id                                 bigint,
    environment                                  text,
    bundle_version                               text,
    status                                       integer,
    consumption_request_reason                   text,
    transaction_id                               text,
    original_transaction_id                      text,
    web_order_line_item_id                       text,
    app_transaction_id                           text,
    product_id                                   text,
    subscription_group_identifier                text,
    app_account_token                            uuid,
    summary_product_id                           text,
    summary_request_identifier                   text,
    summary_storefront_country_codes             text[],
    summary_succeeded_count                      bigint,
    summary_failed_count                         bigint,
    external_purchase_id                         text,
    external_purchase_token_creation_date        timestamptz,
    external_purchase_token_expiration_date      timestamptz,
    external_purchase_token_type                 text,
    app_transaction_receipt_type                 text,
    app_transaction_application_version          text,
    app_transaction_version_external_identifier  bigint,
    app_transaction_receipt_creation_date        timestamptz,
    app_transaction_original_purchase_date       timestamptz,
    app_transaction_original_application_version text,
    app_transaction_original_platform            text,
    app_transaction_preorder_date                timestamptz,
    app_transaction_device_verification          text,
    app_transaction_device_verification_nonce    uuid,
    signed_date                                  timestamptz NOT NULL,
    payload_sha256                               bytea       NOT NULL,
    payload                                      jsonb       NOT NULL,
    first_seen_at                                timestamptz NOT NULL DEFAULT now(),
    last_changed_at                              timestamptz DEFAULT now(),
    last_run_id                                  bigint,
    content_hash                                 bytea,
    late_run_id                                  bigint,
    app_transaction_store_type                   text,
    PRIMARY KEY (app_id, notification_uuid)
);
ALTER TABLE notifications ALTER COLUMN payload SET STATISTICS 0;
CREATE INDEX notifications_signed_date ON notifications (app_id, signed_date);
CREATE INDEX notifications_original_transaction_id ON notifications (app_id, original_transaction_id);
CREATE INDEX notifications_transaction_id ON notifications (app_id, transaction_id);
CREATE INDEX notifications_notification_type ON notifications (app_id, notification_type);
-- A notification that came late, by a replay or another job's crawl, is found by when it came. Rows lie in that order, so
-- the index has one entry for a megabyte of them.
CREATE INDEX notifications_first_seen_at ON notifications USING brin (first_seen_at);
-- How does an erasure find each of a customer's rows by an index?
CREATE INDEX notifications_app_transaction_id ON notifications (app_id, app_transaction_id);
-- Which notifications came late? They are few, so status need not look through all.
CREATE INDEX notifications_late ON notifications (app_id, late_run_id) WHERE (late_run_id IS NOT NULL);
CREATE INDEX notifications_refunds ON notifications (app_id, first_seen_at) WHERE (notification_type = 'REFUND');
-- Which few notifications name the end of a grace period, or a period that Apple extended?
--
-- subscription_periods reads these alone. The condition is the view's, word for word, so that the planner can use the index;
-- it is partial, so that most notifications cost nothing more when they are loaded.
CREATE INDEX notifications_period_evidence ON notifications (app_id, original_transaction_id, transaction_id) WHERE ((notification_type = 'RENEWAL_EXTENDED') OR (jsonb_typeof((payload #> '{data,signedRenewalInfo,gracePeriodExpiresDate}'::text[])) = 'number'));

CREATE TABLE notification_send_attempts (
    app_id              integer     NOT NULL,
    notification_uuid   text        NOT NULL,
    attempt_date        timestamptz NOT NULL,
    send_attempt_result text,
    read_at             timestamptz,
    PRIMARY KEY (app_id, notification_uuid, attempt_date)
);

CREATE TABLE advanced_commerce_items (
    app_id                          integer     NOT NULL,
    owner_kind                      text        NOT NULL,
    owner_key                       text        NOT NULL,
    position                        integer     NOT NULL,
    sku                             text,
    description                     text,
    display_name                    text,
    price_milliunits                bigint,
    currency                        text,
    revocation_date                 timestamptz,
    offer_period                    text,
    offer_period_count              integer,
    offer_price_milliunits          bigint,
    offer_reason                    text,
    price_increase_price_milliunits bigint,
    price_increase_status           text,
    price_increase_dependent_skus   text[],
    PRIMARY KEY (app_id, owner_kind, owner_key, position)
);
CREATE INDEX advanced_commerce_items_sku ON advanced_commerce_items (app_id, sku);

CREATE TABLE advanced_commerce_refunds (
    app_id                   integer     NOT NULL,
    owner_kind               text        NOT NULL,
    owner_key                text        NOT NULL,
    item_position            integer     NOT NULL,
    position                 integer     NOT NULL,
    refund_date              timestamptz,
    refund_amount_milliunits bigint,
    currency                 text,
    refund_type              text,
    refund_reason            text,
    PRIMARY KEY (app_id, owner_kind, owner_key, item_position, position)
);
CREATE INDEX advanced_commerce_refunds_refund_date ON advanced_commerce_refunds (app_id, refund_date);

CREATE TABLE signing_headers (
    app_id        integer     NOT NULL,
    header_id     integer     GENERATED ALWAYS AS IDENTITY,
    header_sha256 bytea       NOT NULL,
    header        text        NOT NULL,
    first_seen_at timestamptz DEFAULT now(),
    PRIMARY KEY (app_id, header_id),
    UNIQUE (app_id, header_sha256),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE signed_payloads (
    app_id         integer     NOT NULL,
    kind           text        NOT NULL,
    record_key     text        NOT NULL,
    signed_date    timestamptz NOT NULL,
    payload_sha256 bytea       NOT NULL,
    header_id      integer     NOT NULL,
    payload        bytea       NOT NULL,
    signature      bytea       NOT NULL,
    is_refund      boolean     NOT NULL DEFAULT false,
    first_seen_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, kind, record_key, signed_date, payload_sha256)
);
ALTER TABLE signed_payloads ALTER COLUMN payload SET STATISTICS 0,
    ALTER COLUMN signature SET STATISTICS 0;

CREATE TABLE schema_drift (
    app_id        integer     NOT NULL,
    kind          text        NOT NULL,
    path          text        NOT NULL,
    sample        text,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at  timestamptz NOT NULL DEFAULT now(),
    seen_count    bigint      NOT NULL DEFAULT 1,
    PRIMARY KEY (app_id, kind, path),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE field_issues (
    app_id        integer     NOT NULL,
    kind          text        NOT NULL,
    record_key    text        NOT NULL,
    path          text        NOT NULL,
    found         text        NOT NULL,
    signed_date   timestamptz,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, kind, record_key, path),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE rejected_records (
    app_id        integer     NOT NULL,
    record_id     bigint      GENERATED ALWAYS AS IDENTITY,
    job           text        NOT NULL,
    stream        text        NOT NULL,
    item_key      text        NOT NULL,
    reason        text        NOT NULL,
    detail        text        NOT NULL,
    sha256        bytea       NOT NULL,
    raw           bytea       NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at  timestamptz NOT NULL DEFAULT now(),
    seen_count    bigint      NOT NULL DEFAULT 1,
    run_id        bigint,
    resolved_at   timestamptz,
    identity      bytea,
    dismissed_at  timestamptz,
    PRIMARY KEY (app_id, record_id),
    UNIQUE (app_id, job, stream, sha256, reason),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
CREATE INDEX rejected_records_first_seen_at ON rejected_records (app_id, first_seen_at);
-- Most rejects have the key of a window, so statistics say little of the others. With the key first, and a condition on the
-- app that no index fits, a look-up has no other index to choose.
CREATE INDEX rejected_records_item_key ON rejected_records (item_key, app_id);

-- How far is each crawl, who works on it, and how much of Apple's hourly limit is spent?
-- Rows, cursors, leases and the spent budget live in one database and commit together.
CREATE TABLE runs (
    app_id                 integer     NOT NULL,
    run_id                 bigint      GENERATED ALWAYS AS IDENTITY,
    job                    text        NOT NULL,
    fingerprint            text        NOT NULL,
    phase                  smallint    NOT NULL DEFAULT 1,
    frozen_now             timestamptz NOT NULL,
    started_at             timestamptz NOT NULL DEFAULT now(),
    finished_at            timestamptz,
    exit_code              integer,
    message                text,
    version                text        NOT NULL,
    restarted              boolean     NOT NULL DEFAULT false,
    listed_ids             bigint      NOT NULL DEFAULT 0,
    duplicate_ids          bigint      NOT NULL DEFAULT 0,
    items                  bigint      NOT NULL DEFAULT 0,
    items_failed           bigint      NOT NULL DEFAULT 0,
    pages                  bigint      NOT NULL DEFAULT 0,
    requests               bigint      NOT NULL DEFAULT 0,
    rows_new               bigint      NOT NULL DEFAULT 0,
    rows_updated           bigint      NOT NULL DEFAULT 0,
    rows_unchanged         bigint      NOT NULL DEFAULT 0,
    records_rejected       bigint      NOT NULL DEFAULT 0,
    gaps                   bigint      NOT NULL DEFAULT 0,
    records_withheld       bigint      NOT NULL DEFAULT 0,
    withheld_ids           bigint      NOT NULL DEFAULT 0,
    followed_until         timestamptz,
    server                 text,
    trusted_roots          text[],
    stopped_for_rejects_at timestamptz,
    begun_by               uuid,
    is_retry               boolean     NOT NULL DEFAULT false,
    refunds_followed_until timestamptz,
    empty_lists            integer     NOT NULL DEFAULT 0,
    job_file               text,
    job_host               text,
    streams_fingerprint    text,
    customers_since        timestamptz,
    PRIMARY KEY (app_id, run_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
-- One unfinished run a job: a second process joins it instead of beginning another.
CREATE UNIQUE INDEX runs_unfinished ON runs (app_id, job) WHERE (finished_at IS NULL);
CREATE INDEX runs_by_job ON runs (app_id, job, run_id);

CREATE TABLE crawl_items (
    app_id            integer     NOT NULL,
    job               text        NOT NULL,
    stream            text        NOT NULL,
    item_key          text        NOT NULL,
    run_id            bigint      NOT NULL,
    state             text        NOT NULL,
    claimable_at      timestamptz,
    lease_owner       uuid,
    lease_epoch       bigint      NOT NULL DEFAULT 0,
    fingerprint       text        NOT NULL,
    window_start      timestamptz,
    window_end        timestamptz,
    cursor            text,
    page_seq          bigint      NOT NULL DEFAULT 0,
    complete_until    timestamptz,
    saw_revocation    boolean     NOT NULL DEFAULT false,
    other_environment text,
    page_count        integer     NOT NULL DEFAULT 0,
    request_count     integer     NOT NULL DEFAULT 0,
    rows_new          integer     NOT NULL DEFAULT 0,
    rows_updated      integer     NOT NULL DEFAULT 0,
    rows_unchanged    integer     NOT NULL DEFAULT 0,
    records_rejected  integer     NOT NULL DEFAULT 0,
    restarts          integer     NOT NULL DEFAULT 0,
    deferrals         integer     NOT NULL DEFAULT 0,
    error_code        bigint,
    error_message     text,
    finished_at       timestamptz,
    records_withheld  integer     NOT NULL DEFAULT 0,
    refunds_due       boolean     NOT NULL DEFAULT false,
    CHECK (state = ANY (ARRAY['waiting', 'leased', 'done', 'failed'])),
    CHECK ((state = ANY (ARRAY['waiting', 'leased'])) = (claimable_at IS NOT NULL)),
    PRIMARY KEY (app_id, job, stream, item_key),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
CREATE INDEX crawl_items_claimable ON crawl_items (app_id, job, stream, claimable_at, item_key) WHERE (claimable_at IS NOT NULL);
CREATE INDEX crawl_items_leases ON crawl_items (app_id, lease_owner) WHERE (lease_owner IS NOT NULL);
CREATE INDEX crawl_items_failed ON crawl_items (app_id, job, run_id) WHERE (state = 'failed');
-- Which items did a worker hold that has not renewed them in time?
--
-- They are taken over before what nobody has begun; without an index of their own, a lease would have to look through all
-- that was planned to find them. It has as many entries as items are under way.
CREATE INDEX crawl_items_leased ON crawl_items (app_id, job, stream, claimable_at, item_key) WHERE (state = 'leased');
-- Which items does a run have, and which customers' refunds are due, without a look at all other items?
--
-- The index of runs does not begin with app_id: a plan that is made while the table is small would take it for as good as
-- the primary key, and read all items of the job for every page.
CREATE INDEX crawl_items_by_run ON crawl_items (run_id);
CREATE INDEX crawl_items_refunds_due ON crawl_items (app_id, job) WHERE refunds_due;

CREATE TABLE coverage_gaps (
    app_id    integer     NOT NULL,
    job       text        NOT NULL,
    stream    text        NOT NULL,
    item_key  text        NOT NULL,
    gap_start timestamptz NOT NULL,
    gap_end   timestamptz NOT NULL,
    reason    text        NOT NULL,
    run_id    bigint      NOT NULL,
    found_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, job, stream, item_key, gap_start),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE rate_scopes (
    app_id       integer          NOT NULL,
    endpoint     text             NOT NULL,
    closed_until timestamptz      NOT NULL DEFAULT '-infinity'::timestamp with time zone,
    last_now     timestamptz      NOT NULL DEFAULT '-infinity'::timestamp with time zone,
    next_at      timestamptz      NOT NULL DEFAULT '-infinity'::timestamp with time zone,
    kept_for     interval         NOT NULL DEFAULT '00:00:00'::interval,
    server       text,
    least_unit   interval         NOT NULL DEFAULT '01:00:00'::interval,
    share        double precision NOT NULL DEFAULT 1,
    share_at     timestamptz      NOT NULL DEFAULT '-infinity'::timestamp with time zone,
    PRIMARY KEY (app_id, endpoint),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE rate_buckets (
    app_id   integer     NOT NULL,
    endpoint text        NOT NULL,
    bucket   timestamptz NOT NULL,
    granted  integer     NOT NULL,
    CHECK (granted > 0),
    PRIMARY KEY (app_id, endpoint, bucket),
    FOREIGN KEY (app_id, endpoint) REFERENCES rate_scopes(app_id, endpoint)
);

-- Which customers had themselves erased, so that no later crawl brings them back?
--
-- A tombstone is the HMAC-SHA256 of one of the customer's IDs. The key lies beside it in the database: a crawl on any
-- machine must recognise the customer, and a key that got lost outside would let every one of them back in silence.
-- So tombstones are pseudonymous, not anonymous: whoever reads both tables can ask whether an ID he knows was erased,
-- and transaction IDs can be tried one after another. They say nothing else, and match nothing outside this ledger.
--
-- storeledger erase needs: SELECT, INSERT on apps, erasure_keys, erased_marks; SELECT, DELETE on transactions, refunds,
-- renewals, notifications, notification_send_attempts, advanced_commerce_items, advanced_commerce_refunds,
-- signed_payloads, field_issues, rejected_records, crawl_items, coverage_gaps; SELECT, UPDATE, DELETE on schema_drift;
-- SELECT, UPDATE on runs; SELECT on schema_migrations; EXECUTE on erasure_key; TEMPORARY on the database; and to write
-- the CSV files again, SELECT on the tables the job publishes.
-- storeledger run and replay need SELECT on erasure_keys, SELECT and INSERT on erased_marks, and EXECUTE on erasure_key.
CREATE TABLE erasure_keys (
    app_id     integer     NOT NULL,
    key        bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK (length(key) = 32),
    PRIMARY KEY (app_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE erased_marks (
    app_id    integer     NOT NULL,
    mark      bytea       NOT NULL,
    erased_at timestamptz NOT NULL DEFAULT now(),
    CHECK (length(mark) = 32),
    PRIMARY KEY (app_id, mark),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

-- What does only the user know: what a product is called, what a currency is worth, what Apple and the tax office keep?
--
-- Nobody but the user writes here, and nothing asks for it: views that need a row and find none show NULL or nothing.
CREATE TABLE products (
    app_id        integer NOT NULL,
    product_id    text    NOT NULL,
    display_name  text,
    product_group text,
    period        text,
    CHECK (period ~ '^P[1-9][0-9]{0,2}[DWMY]$'),
    PRIMARY KEY (app_id, product_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE exchange_rates (
    app_id             integer NOT NULL,
    reporting_currency text    NOT NULL,
    currency           text    NOT NULL,
    valid_from         date    NOT NULL,
    rate               numeric NOT NULL,
    CHECK (reporting_currency ~ '^[A-Z]{3}$'),
    CHECK (currency ~ '^[A-Z]{3}$'),
    CHECK (rate > (0)::numeric),
    PRIMARY KEY (app_id, reporting_currency, currency, valid_from),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE proceeds_rules (
    app_id                  integer NOT NULL,
    storefront              text    NOT NULL DEFAULT '*',
    valid_from              date    NOT NULL,
    tax                     numeric NOT NULL,
    commission              numeric NOT NULL,
    commission_after_a_year numeric,
    CHECK ((tax >= (0)::numeric) AND (tax < (2)::numeric)),
    CHECK ((commission >= (0)::numeric) AND (commission <= (1)::numeric)),
    PRIMARY KEY (app_id, storefront, valid_from),
    FOREIGN KEY (app_id) REFERENCES apps(app_id),
    CHECK ((commission_after_a_year >= (0)::numeric) AND (commission_after_a_year <= (1)::numeric))
);

-- What do several materialised views read, so that a refresh computes it once?
--
-- subscription_periods sorts every subscription's transactions, and seven materialised views stand on it. A refresh puts
-- what it shows, and three views of that kind, into these tables, lets the materialised views read them, and empties them
-- again before it ends. So nobody ever sees a row in them: not another session, nor a copy or a replica of the database.
-- A name is that of a view with kept_ before it, and so are a column's; the view NAME_at_refresh shows the table while it
-- is filled and the view itself when it is not, as when a materialised view is refreshed or restored by hand.
CREATE UNLOGGED TABLE kept_subscription_periods (
    app_id                              integer,
    original_transaction_id             text,
    period_number                       bigint,
    transaction_id                      text,
    product_id                          text,
    subscription_group_identifier       text,
    storefront                          text,
    currency                            text,
    price_milliunits                    bigint,
    transaction_reason                  text,
    offer_type                          integer,
    offer_identifier                    text,
    offer_discount_type                 text,
    is_trial                            boolean,
    is_family_shared                    boolean,
    is_paid                             boolean,
    starts_at                           timestamptz,
    expires_date                        timestamptz,
    ends_at                             timestamptz,
    grace_until                         timestamptz,
    ended_by                            text,
    revocation_date                     timestamptz,
    next_transaction_id                 text,
    next_starts_at                      timestamptz,
    period                              text,
    mrr_milliunits                      bigint,
    estimated_upgrade_refund_milliunits bigint,
    billing_plan_type                   text,
    first_paid_at                       timestamptz,
    is_extended                         boolean,
    period_by_length                    text,
    payment_number                      bigint,
    is_continued                        boolean,
    is_renewed                          boolean,
    next_product_id                     text,
    next_storefront                     text,
    is_after_trial                      boolean
);
ALTER TABLE kept_subscription_periods ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN transaction_id SET STATISTICS 0,
    ALTER COLUMN next_transaction_id SET STATISTICS 0;

CREATE UNLOGGED TABLE kept_subscription_months (
    app_id                  integer,
    original_transaction_id text,
    month                   date,
    product_id              text,
    period                  text,
    storefront              text,
    currency                text,
    mrr_milliunits          bigint,
    first_paid_month        date
);
ALTER TABLE kept_subscription_months ALTER COLUMN original_transaction_id SET STATISTICS 0;

CREATE UNLOGGED TABLE kept_current_subscriptions (
    app_id               integer,
    product_id           text,
    storefront           text,
    currency             text,
    status               text,
    is_paid              boolean,
    is_trial             boolean,
    is_family_shared     boolean,
    will_renew           boolean,
    mrr_milliunits       bigint,
    ends_at              timestamptz,
    is_reported_by_apple boolean
);

CREATE UNLOGGED TABLE kept_purchases (
    app_id              integer,
    customer_key        text,
    purchase_date       timestamptz,
    month               date,
    product_id          text,
    type                text,
    storefront          text,
    currency            text,
    quantity            integer,
    price_milliunits    bigint,
    is_paid             boolean,
    is_refunded         boolean,
    refund_date         timestamptz,
    refund_month        date,
    refund_reason       integer,
    refunded_milliunits bigint,
    net_milliunits      bigint,
    transaction_id      text
);
ALTER TABLE kept_purchases ALTER COLUMN customer_key SET STATISTICS 0,
    ALTER COLUMN transaction_id SET STATISTICS 0;

-- Which locks keep the ledger's own work apart, that no role which only reads can take?
--
-- An advisory lock is open to everybody who may connect, whatever its key. LOCK TABLE in any mode but ACCESS SHARE, and
-- SELECT ... FOR UPDATE, need a right to write to the table. So each lock is a table of its own: one that is empty and is
-- never written, or a row of jobs. migration_lock is made by the migrator itself, because it is needed before any migration.
CREATE UNLOGGED TABLE erasure_lock ();

CREATE UNLOGGED TABLE refresh_lock ();

CREATE TABLE jobs (
    app_id       integer     NOT NULL,
    job          text        NOT NULL,
    first_run_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, job),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

-- Which rejected records are known already, and which server and root do an app's records come from?
CREATE TABLE quarantined_records (
    app_id       integer     NOT NULL,
    reason       text        NOT NULL,
    identity     bytea       NOT NULL,
    record_id    bigint      NOT NULL,
    dismissed_at timestamptz,
    PRIMARY KEY (app_id, reason, identity),
    FOREIGN KEY (app_id) REFERENCES apps(app_id),
    FOREIGN KEY (app_id, record_id) REFERENCES rejected_records(app_id, record_id) ON DELETE CASCADE
);
-- For the rows that go with a rejected record.
CREATE INDEX quarantined_records_by_record ON quarantined_records (app_id, record_id);

-- Which texts quote a customer's ID, and of which tables must the planner's statistics be renewed after an erasure?
--
-- An erasure used to read every rejected text and every notification without a transaction while it held the app's lock.
-- Now the transaction that stores such a text also stores a hash of each ID in it, and an erasure looks the hashes up.
-- A hash has no key: whoever may read quoted_ids may read the texts as well, and its rows leave with the text. The columns
-- have no statistics, because statistics would outlive the rows.
CREATE TABLE quoted_ids (
    app_id     integer NOT NULL,
    owner_kind text    NOT NULL,
    owner_key  text    NOT NULL,
    id_hash    bigint  NOT NULL,
    PRIMARY KEY (app_id, owner_kind, owner_key, id_hash),
    CHECK (owner_kind = ANY (ARRAY['rejected', 'notification', 'appTransaction', 'order']))
);
ALTER TABLE quoted_ids ALTER COLUMN owner_key SET STATISTICS 0,
    ALTER COLUMN id_hash SET STATISTICS 0;
CREATE INDEX quoted_ids_id_hash ON quoted_ids (app_id, id_hash);

-- Texts of before this table: the next erasure reads them, in small batches and before it takes the app's lock, once.
CREATE TABLE unread_texts (
    app_id     integer NOT NULL,
    owner_kind text    NOT NULL,
    owner_key  text    NOT NULL,
    CHECK (owner_kind = ANY (ARRAY['rejected', 'notification'])),
    PRIMARY KEY (app_id, owner_kind, owner_key)
);
ALTER TABLE unread_texts ALTER COLUMN owner_key SET STATISTICS 0;

-- ANALYZE keeps values of a column: the most common ones, and a hundred that divide the others. They outlive the rows they
-- come from until the next ANALYZE, so an erasure names the tables it removed rows from, and renews their statistics after it
-- has committed. A process that is killed in between leaves the names here for the next erasure or refresh.
CREATE TABLE stale_statistics (
    stale_id   bigint      GENERATED ALWAYS AS IDENTITY,
    table_name text        NOT NULL,
    since      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (stale_id)
);

-- When did Apple last sign a record whose content has not changed since it was stored?
--
-- Apple signs each answer when it is requested. A record that is requested again has another signing date and other bytes,
-- even if nothing else changed. Such a record leaves its row, its indexes and the archive as they are; only the newest
-- signature is kept here, one small row for each content. A later snapshot with other content has to be newer than this.
-- A row is updated in place (HOT) each time, so half of every page stays free for it.
CREATE TABLE latest_signatures (
    app_id               integer     NOT NULL,
    kind                 text        NOT NULL,
    record_key           text        NOT NULL,
    first_payload_sha256 bytea       NOT NULL,
    signed_date          timestamptz NOT NULL,
    payload_sha256       bytea       NOT NULL,
    header_id            integer,
    signature            bytea,
    payload              bytea,
    PRIMARY KEY (app_id, kind, record_key, first_payload_sha256)
) WITH (fillfactor = 50);
ALTER TABLE latest_signatures ALTER COLUMN first_payload_sha256 SET STATISTICS 0,
    ALTER COLUMN payload_sha256 SET STATISTICS 0,
    ALTER COLUMN signature SET STATISTICS 0,
    ALTER COLUMN payload SET STATISTICS 0;

-- With which filters a job planned each stream last: another value means that its items begin at their beginning.
CREATE TABLE planned_streams (
    app_id      integer NOT NULL,
    job         text    NOT NULL,
    stream      text    NOT NULL,
    fingerprint text    NOT NULL,
    PRIMARY KEY (app_id, job, stream),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

-- Customers that something else than a new notification has changed: jobs with changedSince request them as well.
CREATE TABLE changed_customers (
    app_id             integer     NOT NULL,
    mark_id            bigint      GENERATED ALWAYS AS IDENTITY,
    transaction_id     text,
    app_transaction_id text,
    signed_date        timestamptz NOT NULL,
    marked_at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, mark_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
CREATE INDEX changed_customers_marked_at ON changed_customers (app_id, marked_at);
CREATE INDEX changed_customers_transaction_id ON changed_customers (app_id, transaction_id);
CREATE INDEX changed_customers_app_transaction_id ON changed_customers (app_id, app_transaction_id);

-- Which period does each subscription product have?
--
-- Apple's data do not say. Most stretches of a product have the product's period; a few are longer because Apple extended them,
-- or shorter because a late payment was recovered. One count over all stretches is cheap in a refresh, which computes them
-- anyway, and too dear for a query about one subscription: so a refresh keeps the result.
CREATE TABLE product_periods (
    app_id     integer NOT NULL,
    product_id text    NOT NULL,
    period     text    NOT NULL,
    PRIMARY KEY (app_id, product_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

-- Which records do Apple's other read endpoints return: app transactions, subscription statuses and orders?
--
-- App transactions are signed, so they have newest snapshots like transactions. The status of a subscription and the result
-- of an order lookup are not signed: the newest answer is kept, with the time at which Apple gave it. Their signed records
-- are in transactions and renewals.
CREATE TABLE app_transactions (
    app_id                       integer     NOT NULL,
    app_transaction_id           text        NOT NULL,
    bundle_id                    text,
    app_apple_id                 bigint,
    receipt_type                 text,
    application_version          text,
    version_external_identifier  bigint,
    receipt_creation_date        timestamptz,
    original_purchase_date       timestamptz,
    original_application_version text,
    original_platform            text,
    preorder_date                timestamptz,
    device_verification          text,
    device_verification_nonce    uuid,
    store_type                   text,
    signed_date                  timestamptz NOT NULL,
    payload_sha256               bytea       NOT NULL,
    payload                      jsonb       NOT NULL,
    first_seen_at                timestamptz NOT NULL DEFAULT now(),
    last_changed_at              timestamptz DEFAULT now(),
    last_run_id                  bigint,
    content_hash                 bytea,
    PRIMARY KEY (app_id, app_transaction_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
ALTER TABLE app_transactions ALTER COLUMN payload_sha256 SET STATISTICS 0,
    ALTER COLUMN payload SET STATISTICS 0,
    ALTER COLUMN content_hash SET STATISTICS 0;

CREATE TABLE subscription_statuses (
    app_id                        integer     NOT NULL,
    original_transaction_id       text        NOT NULL,
    subscription_group_identifier text,
    status                        integer     NOT NULL,
    transaction_id                text        NOT NULL,
    asked_at                      timestamptz NOT NULL,
    first_seen_at                 timestamptz NOT NULL DEFAULT now(),
    last_changed_at               timestamptz NOT NULL DEFAULT now(),
    last_run_id                   bigint,
    records_signed_date           timestamptz,
    ended_at                      timestamptz,
    PRIMARY KEY (app_id, original_transaction_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE orders (
    app_id          integer     NOT NULL,
    order_id        text        NOT NULL,
    status          integer     NOT NULL,
    asked_at        timestamptz NOT NULL,
    first_seen_at   timestamptz NOT NULL DEFAULT now(),
    last_changed_at timestamptz NOT NULL DEFAULT now(),
    last_run_id     bigint,
    PRIMARY KEY (app_id, order_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE order_transactions (
    app_id         integer NOT NULL,
    order_id       text    NOT NULL,
    transaction_id text    NOT NULL,
    PRIMARY KEY (app_id, order_id, transaction_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
-- An erasure finds the orders of a customer by their transactions.
CREATE INDEX order_transactions_transaction_id ON order_transactions (app_id, transaction_id);

-- Which processes work on a run, and on which hosts?
--
-- A lease names its holder only by a random number, and a process that writes files or refreshes views holds no lease. So each
-- process has a row here, and renews seen_at as often as its leases.
CREATE TABLE run_processes (
    app_id     integer     NOT NULL,
    run_id     bigint      NOT NULL,
    owner      uuid        NOT NULL,
    host       text        NOT NULL,
    process_id integer     NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at   timestamptz,
    PRIMARY KEY (app_id, run_id, owner),
    FOREIGN KEY (app_id, run_id) REFERENCES runs(app_id, run_id) ON DELETE CASCADE
);

-- What changed since the last refresh of the materialised views, and which sums do the views show?
--
-- Every materialised view shows sums over subscriptions, transactions, customers or days. A refresh computes only
-- what changed:
--
-- 1. Triggers append the key of each changed record to refresh_changed_keys. Rows are only appended, because a unique row would
--    lose a mark when a writer skips a row that the refresh is deleting.
-- 2. A refresh takes the marks of its snapshot, and adds the keys whose rows change at a date that has passed (due_at).
-- 3. It computes the rows of these keys again (the views …_to_store), and replaces those in the tables stored_….
-- 4. It adds to each table …_totals what the new rows count less what the old rows counted (the views …_changes). Totals
--    are integers, so adding and subtracting is exact.
-- 5. It refreshes the materialised views whose totals changed. They divide, accumulate over a calendar, and leave out future months.
--
-- Everything is one REPEATABLE READ transaction under refresh_lock. A writer that commits later leaves its marks for
-- the next refresh. The same result comes from computing everything from every record (the views …_from_scratch);
-- storeledger refresh --verify compares the two.
CREATE TABLE refresh_changed_keys (
    app_id     integer NOT NULL,
    kind       text    NOT NULL,
    key        text    NOT NULL,
    written_by xid8    NOT NULL DEFAULT pg_current_xact_id()
);
ALTER TABLE refresh_changed_keys ALTER COLUMN key SET STATISTICS 0;

CREATE TABLE refresh_state (
    is_only_row  boolean     NOT NULL DEFAULT true,
    as_of        timestamptz,
    definitions  text,
    purchases    bigint      NOT NULL DEFAULT 0,
    is_rebuild   boolean     NOT NULL DEFAULT false,
    milliseconds bigint,
    next_as_of   timestamptz,
    CHECK (is_only_row),
    PRIMARY KEY (is_only_row)
);

-- Space in each page, so that a row that changes stays in its page, beside the others of its subscription.
CREATE TABLE refresh_stored_periods (
    app_id                              integer     NOT NULL,
    original_transaction_id             text        NOT NULL,
    period_number                       bigint      NOT NULL,
    transaction_id                      text        NOT NULL,
    product_id                          text,
    storefront                          text,
    currency                            text,
    price_milliunits                    bigint,
    transaction_reason                  text,
    offer_type                          integer,
    offer_identifier                    text,
    offer_discount_type                 text,
    billing_plan_type                   text,
    is_trial                            boolean,
    is_family_shared                    boolean,
    is_paid                             boolean,
    starts_at                           timestamptz,
    expires_date                        timestamptz,
    ends_at                             timestamptz,
    grace_until                         timestamptz,
    ended_by                            text,
    revocation_date                     timestamptz,
    next_starts_at                      timestamptz,
    is_last                             boolean,
    period                              text,
    mrr_milliunits                      bigint,
    estimated_upgrade_refund_milliunits bigint,
    first_paid_at                       timestamptz,
    is_extended                         boolean,
    period_by_length                    text,
    payment_number                      bigint,
    is_continued                        boolean,
    is_renewed                          boolean,
    next_product_id                     text,
    next_storefront                     text,
    is_after_trial                      boolean,
    previous_is_trial                   boolean,
    is_after_gap                        boolean,
    is_same_offer                       boolean,
    next_is_renewal                     boolean,
    payments_so_far                     bigint,
    is_paid_later                       boolean,
    is_after_a_year                     boolean,
    has_failed                          boolean,
    next_recovered_at                   timestamptz,
    expiry_reason                       text,
    auto_renew_status                   integer,
    expiration_intent                   integer,
    is_in_billing_retry_period          boolean,
    renewal_info_signed_date            timestamptz,
    reported_status                     integer,
    reported_at                         timestamptz,
    due_at                              timestamptz,
    PRIMARY KEY (app_id, original_transaction_id, period_number)
) WITH (fillfactor = 90);
ALTER TABLE refresh_stored_periods ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN transaction_id SET STATISTICS 0;
CREATE INDEX refresh_stored_periods_due_at ON refresh_stored_periods (due_at) WHERE (due_at IS NOT NULL);

CREATE TABLE refresh_stored_transactions (
    app_id                  integer     NOT NULL,
    original_transaction_id text,
    transaction_id          text        NOT NULL,
    is_purchase             boolean     NOT NULL,
    customer_key            text,
    purchase_date           timestamptz,
    product_id              text,
    type                    text,
    storefront              text,
    currency                text,
    quantity                integer,
    price_milliunits        bigint,
    is_paid                 boolean,
    is_refunded             boolean,
    refund_date             timestamptz,
    refund_reason           integer,
    refunded_milliunits     bigint,
    net_milliunits          bigint,
    list_price_milliunits   bigint,
    is_renewal              boolean,
    in_app_ownership_type   text,
    revocation_date         timestamptz,
    purchase_key            text        NOT NULL,
    PRIMARY KEY (app_id, purchase_key, transaction_id)
) WITH (fillfactor = 90);
ALTER TABLE refresh_stored_transactions ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN transaction_id SET STATISTICS 0,
    ALTER COLUMN customer_key SET STATISTICS 0,
    ALTER COLUMN purchase_key SET STATISTICS 0;
CREATE INDEX refresh_stored_transactions_customer_key ON refresh_stored_transactions (app_id, customer_key) WHERE is_purchase;

CREATE TABLE refresh_stored_cancellations (
    app_id          integer NOT NULL,
    transaction_key text    NOT NULL,
    day             date,
    product_id      text,
    storefront      text,
    currency        text,
    is_renewal_on   boolean,
    is_trial        boolean,
    mrr_milliunits  bigint
);
ALTER TABLE refresh_stored_cancellations ALTER COLUMN transaction_key SET STATISTICS 0;
CREATE INDEX refresh_stored_cancellations_transaction_key ON refresh_stored_cancellations (app_id, transaction_key);

CREATE TABLE refresh_stored_refund_requests (
    app_id           integer  NOT NULL,
    transaction_key  text     NOT NULL,
    month            date,
    product_id       text,
    storefront       text,
    currency         text,
    is_request       boolean,
    outcome          text,
    price_milliunits bigint,
    delay            interval
);
ALTER TABLE refresh_stored_refund_requests ALTER COLUMN transaction_key SET STATISTICS 0;
CREATE INDEX refresh_stored_refund_requests_transaction_key ON refresh_stored_refund_requests (app_id, transaction_key);

CREATE TABLE refresh_stored_notification_days (
    app_id                  integer     NOT NULL,
    day                     date,
    notification_type       text,
    notifications           bigint,
    delivered               bigint,
    delivered_at_once       bigint,
    retrying                bigint,
    not_known_yet           bigint,
    never_received          bigint,
    unknown                 bigint,
    attempts                bigint,
    failed_attempts         bigint,
    median_time_to_success  interval,
    longest_time_to_success interval,
    due_at                  timestamptz,
    CONSTRAINT refresh_stored_notification_da_app_id_day_notification_type_key UNIQUE NULLS NOT DISTINCT (app_id, day, notification_type)
);
CREATE INDEX refresh_stored_notification_days_due_at ON refresh_stored_notification_days (due_at) WHERE (due_at IS NOT NULL);

CREATE TABLE refresh_active_totals (
    app_id     integer NOT NULL,
    product_id text,
    day        date,
    events     bigint  NOT NULL,
    paid       bigint  NOT NULL,
    trials     bigint  NOT NULL,
    started    bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, product_id, day)
);

CREATE TABLE refresh_movement_totals (
    app_id       integer NOT NULL,
    day          date,
    product_id   text,
    storefront   text,
    new          bigint  NOT NULL,
    resubscribed bigint  NOT NULL,
    expired      bigint  NOT NULL,
    switched_in  bigint  NOT NULL,
    switched_out bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, storefront)
);

CREATE TABLE refresh_mrr_totals (
    app_id         integer NOT NULL,
    month          date,
    product_id     text,
    period         text,
    storefront     text,
    currency       text,
    subscriptions  bigint  NOT NULL,
    without_mrr    bigint  NOT NULL,
    mrr_milliunits bigint  NOT NULL,
    CONSTRAINT refresh_mrr_totals_app_id_month_product_id_period_storefron_key UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, period, storefront, currency)
);

CREATE TABLE refresh_mrr_movement_totals (
    app_id                    integer NOT NULL,
    month                     date,
    currency                  text,
    new_milliunits            bigint  NOT NULL,
    reactivation_milliunits   bigint  NOT NULL,
    expansion_milliunits      bigint  NOT NULL,
    contraction_milliunits    bigint  NOT NULL,
    churn_milliunits          bigint  NOT NULL,
    switched_in_milliunits    bigint  NOT NULL,
    switched_out_milliunits   bigint  NOT NULL,
    new_subscriptions         bigint  NOT NULL,
    reactivated_subscriptions bigint  NOT NULL,
    expanded_subscriptions    bigint  NOT NULL,
    contracted_subscriptions  bigint  NOT NULL,
    churned_subscriptions     bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, currency)
);

CREATE TABLE refresh_churn_totals (
    app_id      integer NOT NULL,
    month       date,
    product_id  text,
    renewals    bigint  NOT NULL,
    recovered   bigint  NOT NULL,
    conversions bigint  NOT NULL,
    voluntary   bigint  NOT NULL,
    billing     bigint  NOT NULL,
    price       bigint  NOT NULL,
    refund      bigint  NOT NULL,
    other       bigint  NOT NULL,
    unknown     bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id)
);

CREATE TABLE refresh_cohort_totals (
    app_id        integer NOT NULL,
    cohort_month  date,
    product_id    text,
    period        text,
    month         date,
    subscriptions bigint  NOT NULL,
    retained      bigint  NOT NULL,
    CONSTRAINT refresh_cohort_totals_app_id_cohort_month_product_id_period_key UNIQUE NULLS NOT DISTINCT (app_id, cohort_month, product_id, period, month)
);

CREATE TABLE refresh_renewal_totals (
    app_id         integer NOT NULL,
    product_id     text,
    period         text,
    payment_number bigint,
    subscriptions  bigint  NOT NULL,
    due            bigint  NOT NULL,
    renewed        bigint  NOT NULL,
    CONSTRAINT refresh_renewal_totals_app_id_product_id_period_payment_num_key UNIQUE NULLS NOT DISTINCT (app_id, product_id, period, payment_number)
);

CREATE TABLE refresh_new_subscription_totals (
    app_id            integer NOT NULL,
    day               date,
    product_id        text,
    storefront        text,
    new               bigint  NOT NULL,
    trial_conversions bigint  NOT NULL,
    introductory      bigint  NOT NULL,
    direct            bigint  NOT NULL,
    direct_with_offer bigint  NOT NULL,
    CONSTRAINT refresh_new_subscription_tota_app_id_day_product_id_storefr_key UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, storefront)
);

CREATE TABLE refresh_trial_totals (
    app_id         integer NOT NULL,
    day            date,
    product_id     text,
    storefront     text,
    started        bigint  NOT NULL,
    converted      bigint  NOT NULL,
    running        bigint  NOT NULL,
    will_not_renew bigint  NOT NULL,
    lost           bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, storefront)
);

CREATE TABLE refresh_offer_conversion_totals (
    app_id              integer NOT NULL,
    month               date,
    product_id          text,
    storefront          text,
    is_trial            boolean,
    offer_type          integer,
    offer_discount_type text,
    offer_identifier    text,
    started             bigint  NOT NULL,
    converted           bigint  NOT NULL,
    running             bigint  NOT NULL,
    lost                bigint  NOT NULL,
    CONSTRAINT refresh_offer_conversion_tota_app_id_month_product_id_store_key UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier)
);

CREATE TABLE refresh_offer_redemption_totals (
    app_id              integer NOT NULL,
    month               date,
    product_id          text,
    storefront          text,
    is_trial            boolean,
    offer_type          integer,
    offer_discount_type text,
    offer_identifier    text,
    redemptions         bigint  NOT NULL,
    CONSTRAINT refresh_offer_redemption_tota_app_id_month_product_id_store_key UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier)
);

CREATE TABLE refresh_status_totals (
    app_id                integer NOT NULL,
    product_id            text,
    storefront            text,
    currency              text,
    status                text,
    subscriptions         bigint  NOT NULL,
    paid                  bigint  NOT NULL,
    trials                bigint  NOT NULL,
    family_shared         bigint  NOT NULL,
    will_renew            bigint  NOT NULL,
    will_not_renew        bigint  NOT NULL,
    mrr_milliunits        bigint  NOT NULL,
    trials_will_not_renew bigint  NOT NULL,
    reported_by_apple     bigint  NOT NULL,
    CONSTRAINT refresh_status_totals_app_id_product_id_storefront_currency_key UNIQUE NULLS NOT DISTINCT (app_id, product_id, storefront, currency, status)
);

CREATE TABLE refresh_mrr_at_risk_totals (
    app_id                         integer NOT NULL,
    month                          date,
    product_id                     text,
    storefront                     text,
    currency                       text,
    subscriptions                  bigint  NOT NULL,
    mrr_milliunits                 bigint  NOT NULL,
    will_not_renew                 bigint  NOT NULL,
    will_not_renew_mrr_milliunits  bigint  NOT NULL,
    in_grace_period                bigint  NOT NULL,
    in_grace_period_mrr_milliunits bigint  NOT NULL,
    at_risk_mrr_milliunits         bigint  NOT NULL,
    renewal_unknown                bigint  NOT NULL,
    reported_by_apple              bigint  NOT NULL,
    not_active_by_apple            bigint  NOT NULL,
    CONSTRAINT refresh_mrr_at_risk_totals_app_id_month_product_id_storefro_key UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency)
);

CREATE TABLE refresh_billing_recovery_totals (
    app_id      integer NOT NULL,
    month       date,
    product_id  text,
    failed      bigint  NOT NULL,
    recovered   bigint  NOT NULL,
    still_tried bigint  NOT NULL,
    lost        bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id)
);

CREATE TABLE refresh_recovery_time_totals (
    app_id     integer  NOT NULL,
    month      date,
    product_id text,
    delay      interval,
    payments   bigint   NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, delay)
);

CREATE TABLE refresh_later_payment_totals (
    app_id              integer NOT NULL,
    month               date,
    product_id          text,
    storefront          text,
    currency            text,
    purchases           bigint  NOT NULL,
    gross_milliunits    bigint  NOT NULL,
    refunds             bigint  NOT NULL,
    refunded_milliunits bigint  NOT NULL,
    CONSTRAINT refresh_later_payment_totals_app_id_month_product_id_storef_key UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency)
);

CREATE TABLE refresh_revenue_totals (
    app_id                              integer NOT NULL,
    month                               date,
    product_id                          text,
    type                                text,
    storefront                          text,
    currency                            text,
    purchases                           bigint  NOT NULL,
    units                               bigint  NOT NULL,
    free_purchases                      bigint  NOT NULL,
    gross_milliunits                    bigint  NOT NULL,
    refunds                             bigint  NOT NULL,
    refunded_milliunits                 bigint  NOT NULL,
    without_price                       bigint  NOT NULL,
    estimated_upgrade_refunds           bigint  NOT NULL,
    estimated_upgrade_refund_milliunits bigint  NOT NULL,
    CONSTRAINT refresh_revenue_totals_app_id_month_product_id_type_storefr_key UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, type, storefront, currency)
);

CREATE TABLE refresh_daily_revenue_totals (
    app_id              integer NOT NULL,
    day                 date,
    product_id          text,
    currency            text,
    purchases           bigint  NOT NULL,
    new_payments        bigint  NOT NULL,
    renewal_payments    bigint  NOT NULL,
    gross_milliunits    bigint  NOT NULL,
    new_milliunits      bigint  NOT NULL,
    renewal_milliunits  bigint  NOT NULL,
    refunds             bigint  NOT NULL,
    refunded_milliunits bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, currency)
);

CREATE TABLE refresh_refund_rate_totals (
    app_id                integer NOT NULL,
    month                 date,
    product_id            text,
    storefront            text,
    currency              text,
    purchases             bigint  NOT NULL,
    refunded              bigint  NOT NULL,
    refunded_for_an_issue bigint  NOT NULL,
    gross_milliunits      bigint  NOT NULL,
    refunded_milliunits   bigint  NOT NULL,
    CONSTRAINT refresh_refund_rate_totals_app_id_month_product_id_storefro_key UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency)
);

CREATE TABLE refresh_refund_time_totals (
    app_id     integer  NOT NULL,
    month      date,
    product_id text,
    storefront text,
    currency   text,
    delay      interval,
    purchases  bigint   NOT NULL,
    CONSTRAINT refresh_refund_time_totals_app_id_month_product_id_storefro_key UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency, delay)
);

CREATE TABLE refresh_family_sharing_totals (
    app_id     integer NOT NULL,
    month      date,
    product_id text,
    began      bigint  NOT NULL,
    revoked    bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, product_id)
);

CREATE TABLE refresh_average_revenue_totals (
    app_id           integer NOT NULL,
    month            date,
    currency         text,
    customers        bigint  NOT NULL,
    paying_customers bigint  NOT NULL,
    net_milliunits   bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, month, currency)
);

CREATE TABLE refresh_lifetime_value_totals (
    app_id         integer NOT NULL,
    cohort_month   date,
    currency       text,
    month          date,
    customers      bigint  NOT NULL,
    net_milliunits bigint  NOT NULL,
    CONSTRAINT refresh_lifetime_value_totals_app_id_cohort_month_currency__key UNIQUE NULLS NOT DISTINCT (app_id, cohort_month, currency, month)
);

CREATE TABLE refresh_product_totals (
    app_id         integer NOT NULL,
    product_id     text,
    type           text,
    purchases      bigint  NOT NULL,
    free_purchases bigint  NOT NULL,
    refunded       bigint  NOT NULL,
    customers      bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, product_id, type)
);

CREATE TABLE refresh_period_length_totals (
    app_id     integer NOT NULL,
    product_id text,
    period     text,
    periods    bigint  NOT NULL,
    UNIQUE NULLS NOT DISTINCT (app_id, product_id, period)
);

-- The tables of a running refresh. They are empty except inside its transaction.
CREATE TABLE refresh_keys (
    app_id integer NOT NULL,
    kind   text    NOT NULL,
    key    text    NOT NULL,
    PRIMARY KEY (app_id, kind, key)
);
ALTER TABLE refresh_keys ALTER COLUMN key SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_periods_before (
    app_id                              integer     NOT NULL,
    original_transaction_id             text        NOT NULL,
    period_number                       bigint      NOT NULL,
    transaction_id                      text        NOT NULL,
    product_id                          text,
    storefront                          text,
    currency                            text,
    price_milliunits                    bigint,
    transaction_reason                  text,
    offer_type                          integer,
    offer_identifier                    text,
    offer_discount_type                 text,
    billing_plan_type                   text,
    is_trial                            boolean,
    is_family_shared                    boolean,
    is_paid                             boolean,
    starts_at                           timestamptz,
    expires_date                        timestamptz,
    ends_at                             timestamptz,
    grace_until                         timestamptz,
    ended_by                            text,
    revocation_date                     timestamptz,
    next_starts_at                      timestamptz,
    is_last                             boolean,
    period                              text,
    mrr_milliunits                      bigint,
    estimated_upgrade_refund_milliunits bigint,
    first_paid_at                       timestamptz,
    is_extended                         boolean,
    period_by_length                    text,
    payment_number                      bigint,
    is_continued                        boolean,
    is_renewed                          boolean,
    next_product_id                     text,
    next_storefront                     text,
    is_after_trial                      boolean,
    previous_is_trial                   boolean,
    is_after_gap                        boolean,
    is_same_offer                       boolean,
    next_is_renewal                     boolean,
    payments_so_far                     bigint,
    is_paid_later                       boolean,
    is_after_a_year                     boolean,
    has_failed                          boolean,
    next_recovered_at                   timestamptz,
    expiry_reason                       text,
    auto_renew_status                   integer,
    expiration_intent                   integer,
    is_in_billing_retry_period          boolean,
    renewal_info_signed_date            timestamptz,
    reported_status                     integer,
    reported_at                         timestamptz,
    due_at                              timestamptz
);
ALTER TABLE refresh_periods_before ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN transaction_id SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_periods_after (
    app_id                              integer     NOT NULL,
    original_transaction_id             text        NOT NULL,
    period_number                       bigint      NOT NULL,
    transaction_id                      text        NOT NULL,
    product_id                          text,
    storefront                          text,
    currency                            text,
    price_milliunits                    bigint,
    transaction_reason                  text,
    offer_type                          integer,
    offer_identifier                    text,
    offer_discount_type                 text,
    billing_plan_type                   text,
    is_trial                            boolean,
    is_family_shared                    boolean,
    is_paid                             boolean,
    starts_at                           timestamptz,
    expires_date                        timestamptz,
    ends_at                             timestamptz,
    grace_until                         timestamptz,
    ended_by                            text,
    revocation_date                     timestamptz,
    next_starts_at                      timestamptz,
    is_last                             boolean,
    period                              text,
    mrr_milliunits                      bigint,
    estimated_upgrade_refund_milliunits bigint,
    first_paid_at                       timestamptz,
    is_extended                         boolean,
    period_by_length                    text,
    payment_number                      bigint,
    is_continued                        boolean,
    is_renewed                          boolean,
    next_product_id                     text,
    next_storefront                     text,
    is_after_trial                      boolean,
    previous_is_trial                   boolean,
    is_after_gap                        boolean,
    is_same_offer                       boolean,
    next_is_renewal                     boolean,
    payments_so_far                     bigint,
    is_paid_later                       boolean,
    is_after_a_year                     boolean,
    has_failed                          boolean,
    next_recovered_at                   timestamptz,
    expiry_reason                       text,
    auto_renew_status                   integer,
    expiration_intent                   integer,
    is_in_billing_retry_period          boolean,
    renewal_info_signed_date            timestamptz,
    reported_status                     integer,
    reported_at                         timestamptz,
    due_at                              timestamptz
);
ALTER TABLE refresh_periods_after ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN transaction_id SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_transactions_before (
    app_id                  integer     NOT NULL,
    original_transaction_id text,
    transaction_id          text        NOT NULL,
    is_purchase             boolean     NOT NULL,
    customer_key            text,
    purchase_date           timestamptz,
    product_id              text,
    type                    text,
    storefront              text,
    currency                text,
    quantity                integer,
    price_milliunits        bigint,
    is_paid                 boolean,
    is_refunded             boolean,
    refund_date             timestamptz,
    refund_reason           integer,
    refunded_milliunits     bigint,
    net_milliunits          bigint,
    list_price_milliunits   bigint,
    is_renewal              boolean,
    in_app_ownership_type   text,
    revocation_date         timestamptz,
    purchase_key            text        NOT NULL
);
ALTER TABLE refresh_transactions_before ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN transaction_id SET STATISTICS 0,
    ALTER COLUMN customer_key SET STATISTICS 0,
    ALTER COLUMN purchase_key SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_transactions_after (
    app_id                  integer     NOT NULL,
    original_transaction_id text,
    transaction_id          text        NOT NULL,
    is_purchase             boolean     NOT NULL,
    customer_key            text,
    purchase_date           timestamptz,
    product_id              text,
    type                    text,
    storefront              text,
    currency                text,
    quantity                integer,
    price_milliunits        bigint,
    is_paid                 boolean,
    is_refunded             boolean,
    refund_date             timestamptz,
    refund_reason           integer,
    refunded_milliunits     bigint,
    net_milliunits          bigint,
    list_price_milliunits   bigint,
    is_renewal              boolean,
    in_app_ownership_type   text,
    revocation_date         timestamptz,
    purchase_key            text        NOT NULL
);
ALTER TABLE refresh_transactions_after ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN transaction_id SET STATISTICS 0,
    ALTER COLUMN customer_key SET STATISTICS 0,
    ALTER COLUMN purchase_key SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_transactions_beside (
    app_id                  integer     NOT NULL,
    original_transaction_id text,
    transaction_id          text        NOT NULL,
    is_purchase             boolean     NOT NULL,
    customer_key            text,
    purchase_date           timestamptz,
    product_id              text,
    type                    text,
    storefront              text,
    currency                text,
    quantity                integer,
    price_milliunits        bigint,
    is_paid                 boolean,
    is_refunded             boolean,
    refund_date             timestamptz,
    refund_reason           integer,
    refunded_milliunits     bigint,
    net_milliunits          bigint,
    list_price_milliunits   bigint,
    is_renewal              boolean,
    in_app_ownership_type   text,
    revocation_date         timestamptz,
    purchase_key            text        NOT NULL
);
ALTER TABLE refresh_transactions_beside ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN transaction_id SET STATISTICS 0,
    ALTER COLUMN customer_key SET STATISTICS 0,
    ALTER COLUMN purchase_key SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_cancellations_before (
    app_id          integer NOT NULL,
    transaction_key text    NOT NULL,
    day             date,
    product_id      text,
    storefront      text,
    currency        text,
    is_renewal_on   boolean,
    is_trial        boolean,
    mrr_milliunits  bigint
);
ALTER TABLE refresh_cancellations_before ALTER COLUMN transaction_key SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_cancellations_after (
    app_id          integer NOT NULL,
    transaction_key text    NOT NULL,
    day             date,
    product_id      text,
    storefront      text,
    currency        text,
    is_renewal_on   boolean,
    is_trial        boolean,
    mrr_milliunits  bigint
);
ALTER TABLE refresh_cancellations_after ALTER COLUMN transaction_key SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_refund_requests_before (
    app_id           integer  NOT NULL,
    transaction_key  text     NOT NULL,
    month            date,
    product_id       text,
    storefront       text,
    currency         text,
    is_request       boolean,
    outcome          text,
    price_milliunits bigint,
    delay            interval
);
ALTER TABLE refresh_refund_requests_before ALTER COLUMN transaction_key SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_refund_requests_after (
    app_id           integer  NOT NULL,
    transaction_key  text     NOT NULL,
    month            date,
    product_id       text,
    storefront       text,
    currency         text,
    is_request       boolean,
    outcome          text,
    price_milliunits bigint,
    delay            interval
);
ALTER TABLE refresh_refund_requests_after ALTER COLUMN transaction_key SET STATISTICS 0;

CREATE TABLE refresh_cancellation_totals (
    app_id                   integer NOT NULL,
    day                      date,
    product_id               text,
    storefront               text,
    currency                 text,
    cancelled                bigint  NOT NULL,
    cancelled_trials         bigint  NOT NULL,
    resumed                  bigint  NOT NULL,
    resumed_trials           bigint  NOT NULL,
    cancelled_mrr_milliunits bigint  NOT NULL,
    resumed_mrr_milliunits   bigint  NOT NULL,
    CONSTRAINT refresh_cancellation_totals_app_id_day_product_id_storefron_key UNIQUE NULLS NOT DISTINCT (app_id, day, product_id, storefront, currency)
);

CREATE TABLE refresh_refund_request_totals (
    app_id                   integer NOT NULL,
    month                    date,
    product_id               text,
    storefront               text,
    currency                 text,
    requests                 bigint  NOT NULL,
    refunded                 bigint  NOT NULL,
    declined                 bigint  NOT NULL,
    reversed                 bigint  NOT NULL,
    pending                  bigint  NOT NULL,
    requested_milliunits     bigint  NOT NULL,
    refunded_without_request bigint  NOT NULL,
    declined_without_request bigint  NOT NULL,
    CONSTRAINT refresh_refund_request_totals_app_id_month_product_id_store_key UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency)
);

CREATE TABLE refresh_decision_time_totals (
    app_id     integer  NOT NULL,
    month      date,
    product_id text,
    storefront text,
    currency   text,
    delay      interval,
    requests   bigint   NOT NULL,
    CONSTRAINT refresh_decision_time_totals_app_id_month_product_id_storef_key UNIQUE NULLS NOT DISTINCT (app_id, month, product_id, storefront, currency, delay)
);

-- Which rows changed since the last part of a change export, and which are gone?
--
-- A change export writes parts: the rows that became visible since the last part, and the keys of rows that are gone.
--
-- 1. While an app has a change export, triggers append the key of each changed row to changed_rows, with the number of the
--    writing transaction.
-- 2. An export reads, in one snapshot, the keys whose transaction this snapshot sees and the snapshot of the last part does not
--    see. A transaction that commits late is therefore in a later part; a time or a sequence would lose it. A key with a row
--    becomes a row of the part, and a key without one a tombstone.
-- 3. The next part is announced here before its manifest is published, and confirmed after. A process can stop in between: the
--    identifier of the last part in the manifest says which of both is true. If it is neither, directory and ledger do not
--    belong together, for example after the restore of a backup, and the export starts again with all rows.
CREATE TABLE change_exports (
    app_id        integer     NOT NULL,
    job           text        NOT NULL,
    format        text        NOT NULL,
    tables        text[]      NOT NULL,
    server        text        NOT NULL,
    started_in    xid8        NOT NULL DEFAULT pg_current_xact_id(),
    part          uuid,
    snapshot      pg_snapshot,
    next_part     uuid,
    next_snapshot pg_snapshot,
    PRIMARY KEY (app_id, job, format),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

-- Rows are only appended, because a unique row would lose a change that is written while an export removes the row.
CREATE TABLE changed_rows (
    app_id     integer NOT NULL,
    table_name text    NOT NULL,
    key        text[]  NOT NULL,
    changed_in xid8    NOT NULL DEFAULT pg_current_xact_id()
);
ALTER TABLE changed_rows ALTER COLUMN key SET STATISTICS 0;

CREATE UNLOGGED TABLE refresh_periods_beside (
    app_id                              integer     NOT NULL,
    original_transaction_id             text        NOT NULL,
    period_number                       bigint      NOT NULL,
    transaction_id                      text        NOT NULL,
    product_id                          text,
    storefront                          text,
    currency                            text,
    price_milliunits                    bigint,
    transaction_reason                  text,
    offer_type                          integer,
    offer_identifier                    text,
    offer_discount_type                 text,
    billing_plan_type                   text,
    is_trial                            boolean,
    is_family_shared                    boolean,
    is_paid                             boolean,
    starts_at                           timestamptz,
    expires_date                        timestamptz,
    ends_at                             timestamptz,
    grace_until                         timestamptz,
    ended_by                            text,
    revocation_date                     timestamptz,
    next_starts_at                      timestamptz,
    is_last                             boolean,
    period                              text,
    mrr_milliunits                      bigint,
    estimated_upgrade_refund_milliunits bigint,
    first_paid_at                       timestamptz,
    is_extended                         boolean,
    period_by_length                    text,
    payment_number                      bigint,
    is_continued                        boolean,
    is_renewed                          boolean,
    next_product_id                     text,
    next_storefront                     text,
    is_after_trial                      boolean,
    previous_is_trial                   boolean,
    is_after_gap                        boolean,
    is_same_offer                       boolean,
    next_is_renewal                     boolean,
    payments_so_far                     bigint,
    is_paid_later                       boolean,
    is_after_a_year                     boolean,
    has_failed                          boolean,
    next_recovered_at                   timestamptz,
    expiry_reason                       text,
    auto_renew_status                   integer,
    expiration_intent                   integer,
    is_in_billing_retry_period          boolean,
    renewal_info_signed_date            timestamptz,
    reported_status                     integer,
    reported_at                         timestamptz,
    due_at                              timestamptz
);
ALTER TABLE refresh_periods_beside ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN transaction_id SET STATISTICS 0;

CREATE TABLE refresh_sale_totals (
    app_id                integer     NOT NULL,
    product_id            text,
    type                  text,
    storefront            text,
    currency              text,
    list_price_milliunits bigint,
    is_renewal            boolean,
    sales                 bigint      NOT NULL,
    first_sold_at         timestamptz,
    last_sold_at          timestamptz,
    CONSTRAINT refresh_sale_totals_app_id_product_id_type_storefront_curre_key UNIQUE NULLS NOT DISTINCT (app_id, product_id, type, storefront, currency, list_price_milliunits, is_renewal)
);

-- Which requests that change something were planned, approved and sent, and what became of each?
--
-- 1. A plan writes a batch with all of its rows in one transaction. Nothing changes them later.
-- 2. An approval names the SHA-256 of the rows and their number. Other rights are needed for it than for planning and sending, so
--    that two roles can share the work; sql/roles.sql.
-- 3. An attempt, with the ID of the request, is committed before the request is sent. A process that is killed therefore leaves a
--    row in state sending, and the next process knows that Apple may have applied the request.
CREATE TABLE action_batches (
    app_id              integer     NOT NULL,
    batch_id            uuid        NOT NULL,
    job                 text        NOT NULL,
    action              text        NOT NULL,
    rows_sha256         text        NOT NULL,
    occurrence          integer     NOT NULL,
    input_name          text,
    input_sha256        text,
    input_columns       text[]      NOT NULL,
    row_count           bigint      NOT NULL,
    rows_to_send        bigint      NOT NULL,
    rows_invalid        bigint      NOT NULL,
    rows_ineligible     bigint      NOT NULL,
    rows_duplicate      bigint      NOT NULL,
    rows_same           bigint      NOT NULL,
    planned_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    planned_by          text        NOT NULL DEFAULT SESSION_USER,
    approval_required   boolean     NOT NULL DEFAULT true,
    approved_at         timestamptz,
    approved_by         text,
    approved_rows       bigint,
    approval_expires_at timestamptz,
    started_at          timestamptz,
    finished_at         timestamptz,
    removed_at          timestamptz,
    policy_sha256       text,
    policy_approval_id  bigint,
    salted_sha256       text,
    CHECK (rows_sha256 ~ '^[0-9a-f]{64}$'),
    CHECK (occurrence >= 0),
    CHECK (((((rows_to_send + rows_invalid) + rows_ineligible) + rows_duplicate) + rows_same) = row_count),
    CONSTRAINT action_batches_check1 CHECK (((approved_at IS NULL) = (approved_rows IS NULL)) AND ((approved_at IS NULL) = (approval_expires_at IS NULL))),
    PRIMARY KEY (app_id, batch_id),
    UNIQUE (app_id, job, rows_sha256, occurrence),
    FOREIGN KEY (app_id) REFERENCES apps(app_id),
    CHECK (salted_sha256 ~ '^[0-9a-f]{64}$')
);
CREATE INDEX action_batches_job ON action_batches (app_id, job, planned_at);

CREATE TABLE action_rows (
    app_id                      integer     NOT NULL,
    batch_id                    uuid        NOT NULL,
    position                    bigint      NOT NULL,
    line                        bigint,
    input                       text[]      NOT NULL,
    parameters                  jsonb,
    subject                     text,
    verdict                     text        NOT NULL,
    rule                        text,
    reason                      text,
    state                       text        NOT NULL,
    stake_milliunits            bigint,
    currency                    text,
    expires_date_before         timestamptz,
    transaction_id_before       text,
    request_id                  uuid,
    may_be_applied              boolean     NOT NULL DEFAULT false,
    attempts                    integer     NOT NULL DEFAULT 0,
    http_status                 integer,
    apple_code                  bigint,
    apple_message               text,
    answer                      jsonb,
    confirmed_by                text,
    first_sent_at               timestamptz,
    last_sent_at                timestamptz,
    ended_at                    timestamptz,
    claimable_at                timestamptz,
    lease_owner                 uuid,
    lease_epoch                 bigint      NOT NULL DEFAULT 0,
    consistency_token           text,
    request_reference_id_before text,
    send_by                     timestamptz,
    salt                        uuid,
    salted_sha256               bytea,
    CHECK (verdict = ANY (ARRAY['valid', 'invalid', 'ineligible', 'duplicate', 'same'])),
    CHECK (state = ANY (ARRAY['planned', 'approved', 'sending', 'succeeded', 'rejected', 'unknown', 'confirming', 'not_applied', 'skipped', 'cancelled'])),
    CHECK ((verdict = 'valid') OR (state = ANY (ARRAY['skipped', 'cancelled']))),
    CONSTRAINT action_rows_check1 CHECK ((NOT may_be_applied) OR (request_id IS NOT NULL)),
    PRIMARY KEY (app_id, batch_id, position)
);
ALTER TABLE action_rows ALTER COLUMN input SET STATISTICS 0,
    ALTER COLUMN parameters SET STATISTICS 0,
    ALTER COLUMN subject SET STATISTICS 0,
    ALTER COLUMN reason SET STATISTICS 0,
    ALTER COLUMN transaction_id_before SET STATISTICS 0,
    ALTER COLUMN apple_message SET STATISTICS 0,
    ALTER COLUMN answer SET STATISTICS 0,
    ALTER COLUMN confirmed_by SET STATISTICS 0,
    ALTER COLUMN consistency_token SET STATISTICS 0,
    ALTER COLUMN request_reference_id_before SET STATISTICS 0,
    ALTER COLUMN salt SET STATISTICS 0,
    ALTER COLUMN salted_sha256 SET STATISTICS 0;
CREATE INDEX action_rows_claimable ON action_rows (app_id, batch_id, claimable_at) WHERE (claimable_at IS NOT NULL);
CREATE INDEX action_rows_subject ON action_rows (app_id, subject) WHERE (subject IS NOT NULL);

CREATE TABLE action_attempts (
    app_id         integer     NOT NULL,
    batch_id       uuid        NOT NULL,
    position       bigint      NOT NULL,
    attempt        integer     NOT NULL,
    purpose        text        NOT NULL,
    sent_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at       timestamptz,
    request_sha256 bytea       NOT NULL,
    http_status    integer,
    apple_code     bigint,
    message        text,
    answer_sha256  bytea,
    answer         bytea,
    CHECK (purpose = ANY (ARRAY['send', 'repeat', 'read back', 'status'])),
    PRIMARY KEY (app_id, batch_id, position, attempt)
);
ALTER TABLE action_attempts ALTER COLUMN message SET STATISTICS 0,
    ALTER COLUMN answer SET STATISTICS 0;

-- Which stored records may a job with a retention term remove?
--
-- Nothing is removed by itself: storeledger run calls these functions at the end of a complete run whose job file has the key
-- retention. Each call is a short transaction over a part of a table, in the order of its primary key. Rows that another session
-- has locked are left for the next time, so that no writer waits and none is waited for.
--
-- A call begins where the last one ended, also after a kill; at the end of the table the next call begins at its beginning again.
CREATE TABLE retention_progress (
    app_id integer NOT NULL,
    part   text    NOT NULL,
    place  text[]  NOT NULL DEFAULT '{"",""}'::text[],
    CHECK (part = ANY (ARRAY['archive', 'sendAttempts'])),
    PRIMARY KEY (app_id, part),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
ALTER TABLE retention_progress ALTER COLUMN place SET STATISTICS 0;

-- Which notifications has Apple posted to storeledger receive, and which of them are in the ledger's records?
--
-- A verified notification is committed here before it is answered. It becomes records later: in the transaction that writes the
-- records, body is cleared and normalised_at is set. So a row without normalised_at is work that any receiver can take.
--
-- A notification that cannot be verified is kept under the hash of its text, so that a forged one never takes the place of
-- Apple's with the same UUID. The receiver limits how many it keeps, and removes them after 30 days.
CREATE TABLE received_notifications (
    app_id                  integer     NOT NULL,
    notification_uuid       text        NOT NULL,
    version                 smallint    NOT NULL,
    notification_type       text,
    subtype                 text,
    signed_date             timestamptz,
    original_transaction_id text,
    received_at             timestamptz NOT NULL,
    last_received_at        timestamptz NOT NULL,
    receipts                bigint      NOT NULL DEFAULT 1,
    refused_because         text,
    body                    text,
    body_sha256             bytea       NOT NULL,
    normalised_at           timestamptz,
    CHECK (version = ANY (ARRAY[1, 2])),
    PRIMARY KEY (app_id, notification_uuid),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE received_notifications ALTER COLUMN notification_uuid SET STATISTICS 0,
    ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN body SET STATISTICS 0,
    ALTER COLUMN body_sha256 SET STATISTICS 0,
    ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX received_notifications_pending ON received_notifications (app_id, received_at) WHERE ((normalised_at IS NULL) AND (refused_because IS NULL));
CREATE INDEX received_notifications_refused ON received_notifications (app_id, last_received_at) WHERE (refused_because IS NOT NULL);
CREATE INDEX received_notifications_customer ON received_notifications (app_id, original_transaction_id) WHERE (original_transaction_id IS NOT NULL);
-- Rows lie in the order in which Apple signed them, so the index has one entry for a megabyte of them.
CREATE INDEX received_notifications_signed_date ON received_notifications USING brin (signed_date);
-- When did the receiver begin, and what did it receive in the last day?
CREATE INDEX received_notifications_received_at ON received_notifications (app_id, received_at);

-- Did the receiver get every notification that Apple sent?
--
-- storeledger reconcile compares, for each closed UTC day and notification type, the notifications that the receiver stored with
-- those that runs found in Apple's notification history:
--
-- 1. A notification is in the history if a run has stored one of its delivery attempts: Apple's history lists them with it, and
--    nothing else writes them.
-- 2. Apple was answered 200 if an attempt has the result SUCCESS. Attempts before the receiver's first receipt went to another
--    server and do not count.
-- 3. What was received and is not in the history is read again by the next run, because some notifications enter the history late.
CREATE TABLE notification_reconciliation (
    app_id                  integer     NOT NULL,
    day                     date        NOT NULL,
    notification_type       text        NOT NULL,
    received                bigint      NOT NULL,
    in_history              bigint      NOT NULL,
    received_and_in_history bigint      NOT NULL,
    recovered               bigint      NOT NULL,
    recovered_by_result     jsonb       NOT NULL,
    answered_but_missing    bigint      NOT NULL,
    to_be_read_again        bigint      NOT NULL,
    unexplained             bigint      NOT NULL,
    unprovable              bigint      NOT NULL,
    not_listed_since        timestamptz,
    checked_at              timestamptz NOT NULL,
    PRIMARY KEY (app_id, day, notification_type),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

-- Which policies may answer refund requests without an approval of each batch, for how many rows, and until when? And which received
-- notifications may a job with a retention term remove?
--
-- Policies:
--
-- 1. An approval names the SHA-256 of a policy, a maximum number of rows and an expiry. Only the newest one of a job counts.
-- 2. storeledger actions run --follow plans a batch for new requests and has it approved in the same transaction. The function
--    approve_by_policy compares the policy, adds up the rows, and checks expiry and withdrawal: the role that plans and sends has
--    no right to approve.
-- 3. A withdrawal also ends the approvals of the batches that follow from it, so that their remaining rows are not sent.
--
-- Received notifications: the oldest ones go, up to a moment. After a removal the ledger is like that of a receiver that began at
-- this moment, so reconcile neither reports the removed ones nor changes the results of their days.
CREATE TABLE action_policy_approvals (
    app_id        integer     NOT NULL,
    approval_id   bigint      GENERATED ALWAYS AS IDENTITY,
    job           text        NOT NULL,
    action        text        NOT NULL,
    policy_sha256 text        NOT NULL,
    maximum_rows  bigint      NOT NULL,
    approved_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    approved_by   text        NOT NULL DEFAULT SESSION_USER,
    expires_at    timestamptz NOT NULL,
    withdrawn_at  timestamptz,
    withdrawn_by  text,
    CHECK (policy_sha256 ~ '^[0-9a-f]{64}$'),
    CHECK (maximum_rows > 0),
    CHECK (expires_at > approved_at),
    CONSTRAINT action_policy_approvals_check1 CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL)),
    PRIMARY KEY (app_id, approval_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
CREATE INDEX action_policy_approvals_job ON action_policy_approvals (app_id, job, approval_id);

-- The one row of the state of the refresh.
INSERT INTO refresh_state DEFAULT VALUES;
