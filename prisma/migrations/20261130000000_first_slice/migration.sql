
-- CreateTable
CREATE TABLE "principals" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT,
    "auth_user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" UUID,
    "disabled_at" TIMESTAMPTZ(3),

    CONSTRAINT "principals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tokens" (
    "id" UUID NOT NULL,
    "principal_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" UUID,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" UUID,

    CONSTRAINT "tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "grants" (
    "id" UUID NOT NULL,
    "principal_id" UUID NOT NULL,
    "token_id" UUID,
    "capabilities" TEXT[],
    "project_id" UUID,
    "session_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" UUID,
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" UUID,

    CONSTRAINT "grants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "invitations" (
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "principal_id" UUID,
    "code_hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "actor_id" UUID,
    "action" TEXT NOT NULL,
    "subject_type" TEXT,
    "subject_id" TEXT,
    "project_id" UUID,
    "reason" TEXT,
    "channel" TEXT NOT NULL,
    "detail" JSONB,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "auth_users" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "image" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "auth_users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "auth_sessions" (
    "id" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ip_address" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "auth_sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "auth_accounts" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "access_token" TEXT,
    "refresh_token" TEXT,
    "id_token" TEXT,
    "access_token_expires_at" TIMESTAMPTZ(3),
    "refresh_token_expires_at" TIMESTAMPTZ(3),
    "scope" TEXT,
    "password" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "auth_accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "auth_verifications" (
    "id" TEXT NOT NULL,
    "identifier" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "auth_verifications_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "inbox_items" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "why" TEXT NOT NULL,
    "session_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "approval_id" UUID,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "deadline_at" TIMESTAMPTZ(3),
    "default_decision" TEXT,
    "assignee_id" UUID,
    "snoozed_until" TIMESTAMPTZ(3),
    "handled_at" TIMESTAMPTZ(3),
    "handled_by" UUID,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "inbox_items_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "installation" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "incarnation" UUID NOT NULL,
    "secret" BYTEA NOT NULL,
    "access_epoch" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "installation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "principal_id" UUID NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "result" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("principal_id","operation","key")
);

-- CreateTable
CREATE TABLE "projects" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "default_model" TEXT,
    "default_thinking_level" TEXT,
    "max_concurrent_runs" INTEGER NOT NULL DEFAULT 4,
    "max_live_runs_per_session" INTEGER NOT NULL DEFAULT 1,
    "max_open_sessions" INTEGER NOT NULL DEFAULT 1000,
    "event_retention_days" INTEGER NOT NULL DEFAULT 90,
    "max_event_bytes" INTEGER NOT NULL DEFAULT 262144,
    "run_timeout_ms" INTEGER NOT NULL DEFAULT 3600000,
    "offer_timeout_ms" INTEGER NOT NULL DEFAULT 30000,
    "runtime_grace_ms" INTEGER NOT NULL DEFAULT 60000,
    "approval_ttl_ms" INTEGER NOT NULL DEFAULT 86400000,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" UUID,

    CONSTRAINT "projects_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "project_load" (
    "project_id" UUID NOT NULL,
    "sessions" INTEGER NOT NULL DEFAULT 0,
    "open_sessions" INTEGER NOT NULL DEFAULT 0,
    "live_runs" INTEGER NOT NULL DEFAULT 0,
    "open_approvals" INTEGER NOT NULL DEFAULT 0,
    "inbox_open" INTEGER NOT NULL DEFAULT 0,
    "feed_floor_xid" BIGINT NOT NULL DEFAULT 0,
    "feed_floor_position" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "project_load_pkey" PRIMARY KEY ("project_id")
);

-- CreateTable
CREATE TABLE "project_events" (
    "project_id" UUID NOT NULL,
    "xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),
    "position" BIGSERIAL NOT NULL,
    "type" TEXT NOT NULL,
    "session_id" UUID,
    "run_id" UUID,
    "subject_id" UUID,
    "payload" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "project_events_pkey" PRIMARY KEY ("project_id","position")
);

-- CreateTable
CREATE TABLE "saved_views" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "screen" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "state" JSONB NOT NULL,
    "shared" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "saved_views_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "runs" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "completion" TEXT,
    "failure_code" TEXT,
    "failure_message" TEXT,
    "effects" TEXT NOT NULL DEFAULT 'NONE',
    "execution" TEXT NOT NULL DEFAULT 'RUN',
    "relation" TEXT NOT NULL,
    "route_id" UUID NOT NULL,
    "runtime_id" UUID NOT NULL,
    "token_generation" INTEGER NOT NULL DEFAULT 0,
    "message_id" UUID NOT NULL,
    "answer_id" UUID,
    "submitted_by" UUID NOT NULL,
    "model" TEXT,
    "thinking_level" TEXT,
    "last_sequence" INTEGER NOT NULL DEFAULT 0,
    "open_approvals" INTEGER NOT NULL DEFAULT 0,
    "tool_calls_seen" INTEGER NOT NULL DEFAULT 0,
    "tool_results_seen" INTEGER NOT NULL DEFAULT 0,
    "rejected_writes" INTEGER NOT NULL DEFAULT 0,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "cached_tokens" INTEGER,
    "model_calls" INTEGER,
    "tool_calls" INTEGER,
    "milliseconds" INTEGER,
    "offered_at" TIMESTAMPTZ(3) NOT NULL,
    "offer_expires_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "deadline_at" TIMESTAMPTZ(3),
    "remaining_ms" INTEGER,
    "last_seen_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "ended_by" UUID,
    "end_reason" TEXT,

    CONSTRAINT "runs_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "route_decisions" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "run_id" UUID,
    "target" TEXT NOT NULL,
    "relation" TEXT NOT NULL,
    "protocol" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "reasons" TEXT[],
    "warnings" TEXT[],
    "confidence" DOUBLE PRECISION,
    "candidates" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "route_decisions_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "approvals" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "options" TEXT[],
    "default_decision" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "decision" TEXT,
    "note" TEXT,
    "decided_by" UUID,
    "decided_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "approvals_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "runtimes" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "principal_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "kinds" TEXT[],
    "tools" JSONB NOT NULL,
    "max_concurrent_runs" INTEGER NOT NULL,
    "live_runs" INTEGER NOT NULL DEFAULT 0,
    "state" TEXT NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "last_signal" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "runtimes_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "runtime_signals" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "runtime_id" UUID NOT NULL,
    "position" BIGINT NOT NULL,
    "kind" TEXT NOT NULL,
    "session_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "acknowledged_at" TIMESTAMPTZ(3),

    CONSTRAINT "runtime_signals_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "title" TEXT NOT NULL,
    "summary" TEXT,
    "state" TEXT NOT NULL,
    "generation" INTEGER NOT NULL DEFAULT 1,
    "model" TEXT,
    "thinking_level" TEXT,
    "last_sequence" INTEGER NOT NULL DEFAULT 0,
    "first_sequence" INTEGER NOT NULL DEFAULT 1,
    "run_count" INTEGER NOT NULL DEFAULT 0,
    "message_count" INTEGER NOT NULL DEFAULT 0,
    "live_runs" INTEGER NOT NULL DEFAULT 0,
    "open_approvals" INTEGER NOT NULL DEFAULT 0,
    "last_run_id" UUID,
    "last_run_state" TEXT,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "cached_tokens" INTEGER,
    "model_calls" INTEGER,
    "tool_calls" INTEGER,
    "milliseconds" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" UUID,
    "last_activity_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "messages" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "sequence" INTEGER NOT NULL,
    "author_id" UUID NOT NULL,
    "authority" TEXT NOT NULL,
    "run_id" UUID,
    "answers_id" UUID,
    "text" TEXT NOT NULL,
    "search" tsvector NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "session_events" (
    "project_id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "sequence" INTEGER NOT NULL,
    "run_id" UUID,
    "run_sequence" INTEGER,
    "type" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_events_pkey" PRIMARY KEY ("project_id","session_id","sequence")
);

-- CreateIndex
CREATE UNIQUE INDEX "principals_auth_user_id_key" ON "principals"("auth_user_id");

-- CreateIndex
CREATE UNIQUE INDEX "tokens_hash_key" ON "tokens"("hash");

-- CreateIndex
CREATE INDEX "tokens_principal_id_idx" ON "tokens"("principal_id");

-- CreateIndex
CREATE INDEX "grants_principal_id_idx" ON "grants"("principal_id");

-- CreateIndex
CREATE INDEX "grants_token_id_idx" ON "grants"("token_id");

-- CreateIndex
CREATE UNIQUE INDEX "invitations_code_hash_key" ON "invitations"("code_hash");

-- CreateIndex
CREATE INDEX "audit_entries_project_id_at_id_idx" ON "audit_entries"("project_id", "at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_at_id_idx" ON "audit_entries"("at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "auth_users_email_key" ON "auth_users"("email");

-- CreateIndex
CREATE UNIQUE INDEX "auth_sessions_token_key" ON "auth_sessions"("token");

-- CreateIndex
CREATE INDEX "auth_sessions_user_id_idx" ON "auth_sessions"("user_id");

-- CreateIndex
CREATE INDEX "auth_accounts_user_id_idx" ON "auth_accounts"("user_id");

-- CreateIndex
CREATE INDEX "auth_verifications_identifier_idx" ON "auth_verifications"("identifier");

-- CreateIndex
CREATE INDEX "inbox_items_project_id_session_id_idx" ON "inbox_items"("project_id", "session_id");

-- CreateIndex
CREATE INDEX "inbox_items_project_id_state_since_id_idx" ON "inbox_items"("project_id", "state", "since" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "projects_slug_key" ON "projects"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "saved_views_project_id_owner_id_screen_name_key" ON "saved_views"("project_id", "owner_id", "screen", "name");

-- CreateIndex
CREATE INDEX "runs_project_id_runtime_id_idx" ON "runs"("project_id", "runtime_id");

-- CreateIndex
CREATE UNIQUE INDEX "runs_project_id_session_id_number_key" ON "runs"("project_id", "session_id", "number");

-- CreateIndex
CREATE INDEX "route_decisions_project_id_session_id_idx" ON "route_decisions"("project_id", "session_id");

-- CreateIndex
CREATE INDEX "approvals_project_id_session_id_idx" ON "approvals"("project_id", "session_id");

-- CreateIndex
CREATE INDEX "approvals_project_id_run_id_idx" ON "approvals"("project_id", "run_id");

-- CreateIndex
CREATE INDEX "approvals_project_id_created_at_id_idx" ON "approvals"("project_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "runtimes_project_id_name_principal_id_key" ON "runtimes"("project_id", "name", "principal_id");

-- CreateIndex
CREATE INDEX "runtime_signals_project_id_session_id_idx" ON "runtime_signals"("project_id", "session_id");

-- CreateIndex
CREATE UNIQUE INDEX "runtime_signals_project_id_runtime_id_position_key" ON "runtime_signals"("project_id", "runtime_id", "position");

-- CreateIndex
CREATE INDEX "sessions_project_id_last_activity_at_id_idx" ON "sessions"("project_id", "last_activity_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "sessions_project_id_created_at_id_idx" ON "sessions"("project_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "messages_search_idx" ON "messages" USING GIN ("search");

-- CreateIndex
CREATE UNIQUE INDEX "messages_project_id_session_id_sequence_key" ON "messages"("project_id", "session_id", "sequence");

-- AddForeignKey
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_principal_id_fkey" FOREIGN KEY ("principal_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "grants" ADD CONSTRAINT "grants_principal_id_fkey" FOREIGN KEY ("principal_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "grants" ADD CONSTRAINT "grants_token_id_fkey" FOREIGN KEY ("token_id") REFERENCES "tokens"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "auth_sessions" ADD CONSTRAINT "auth_sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "auth_users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "auth_accounts" ADD CONSTRAINT "auth_accounts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "auth_users"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- CreateTable
CREATE TABLE "outbox" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "channel" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'QUEUED',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3),
    "last_error" TEXT,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "outbox_project_id_channel_key_key" ON "outbox"("project_id", "channel", "key");

-- What the schema language can't say: closed sets, ranges, append-only tables, partial indexes.

INSERT INTO "installation" ("incarnation", "secret") VALUES (gen_random_uuid(), sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
ALTER TABLE "installation" ADD CONSTRAINT "installation_one_row" CHECK ("id" = 1);

ALTER TABLE "principals" ADD CONSTRAINT "principals_kind" CHECK ("kind" IN ('PERSON', 'SERVICE', 'RUNTIME', 'WORKER', 'VERIFIER', 'CHANNEL'));
ALTER TABLE "grants" ADD CONSTRAINT "grants_scope" CHECK ("session_id" IS NULL OR "project_id" IS NOT NULL);
ALTER TABLE "grants" ADD CONSTRAINT "grants_not_empty" CHECK (cardinality("capabilities") > 0);
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_hash" CHECK (octet_length("hash") = 32);
CREATE UNIQUE INDEX "invitations_one_open_first_owner" ON "invitations" ("kind") WHERE "kind" = 'FIRST_OWNER' AND "used_at" IS NULL;

ALTER TABLE "projects"
  ADD CONSTRAINT "projects_slug" CHECK ("slug" ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length("slug") <= 64),
  ADD CONSTRAINT "projects_max_concurrent_runs" CHECK ("max_concurrent_runs" BETWEEN 1 AND 10000),
  ADD CONSTRAINT "projects_max_live_runs_per_session" CHECK ("max_live_runs_per_session" BETWEEN 1 AND 8),
  ADD CONSTRAINT "projects_max_open_sessions" CHECK ("max_open_sessions" BETWEEN 1 AND 1000000),
  ADD CONSTRAINT "projects_event_retention_days" CHECK ("event_retention_days" BETWEEN 1 AND 3650),
  ADD CONSTRAINT "projects_max_event_bytes" CHECK ("max_event_bytes" BETWEEN 1024 AND 1048576),
  ADD CONSTRAINT "projects_run_timeout_ms" CHECK ("run_timeout_ms" BETWEEN 1000 AND 604800000),
  ADD CONSTRAINT "projects_offer_timeout_ms" CHECK ("offer_timeout_ms" BETWEEN 1000 AND 3600000),
  ADD CONSTRAINT "projects_runtime_grace_ms" CHECK ("runtime_grace_ms" BETWEEN 30000 AND 3600000),
  ADD CONSTRAINT "projects_approval_ttl_ms" CHECK ("approval_ttl_ms" BETWEEN 1000 AND 2592000000);
ALTER TABLE "project_load" ADD CONSTRAINT "project_load_counts"
  CHECK ("sessions" >= 0 AND "open_sessions" BETWEEN 0 AND "sessions" AND "live_runs" >= 0 AND "open_approvals" >= 0 AND "inbox_open" >= 0);
CREATE INDEX "project_events_order" ON "project_events" ("project_id", "xid", "position");
CREATE INDEX "project_events_of_session" ON "project_events" ("project_id", "session_id") WHERE "session_id" IS NOT NULL;

ALTER TABLE "sessions"
  ADD CONSTRAINT "sessions_state" CHECK ("state" IN ('OPEN', 'CLOSED')),
  ADD CONSTRAINT "sessions_title" CHECK (length("title") BETWEEN 1 AND 120),
  ADD CONSTRAINT "sessions_counts" CHECK ("live_runs" >= 0 AND "open_approvals" >= 0 AND "first_sequence" >= 1 AND "last_sequence" >= 0),
  ADD CONSTRAINT "sessions_closed_is_quiet" CHECK ("state" = 'OPEN' OR "live_runs" = 0);
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_project" FOREIGN KEY ("project_id") REFERENCES "projects" ("id");

ALTER TABLE "messages" ADD CONSTRAINT "messages_authority" CHECK ("authority" IN ('OWNER', 'MEMBER', 'AGENT', 'CHANNEL', 'SYSTEM'));
ALTER TABLE "messages" ADD CONSTRAINT "messages_session" FOREIGN KEY ("project_id", "session_id") REFERENCES "sessions" ("project_id", "id");

-- The sequence is taken from the session's row in the statement that inserts the event, which is stronger than a
-- foreign key would be; so the journal has none.
ALTER TABLE "session_events" ADD CONSTRAINT "session_events_sequence" CHECK ("sequence" >= 1 AND "run_sequence" >= 1);

ALTER TABLE "runs"
  ADD CONSTRAINT "runs_state" CHECK ("state" IN ('OFFERED', 'RUNNING', 'WAITING_APPROVAL', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT')),
  ADD CONSTRAINT "runs_completion" CHECK (("state" = 'COMPLETED') = ("completion" IS NOT NULL)),
  ADD CONSTRAINT "runs_failure" CHECK (("state" = 'FAILED') = ("failure_code" IS NOT NULL)),
  ADD CONSTRAINT "runs_ended" CHECK (("state" IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT')) = ("ended_at" IS NOT NULL)),
  ADD CONSTRAINT "runs_waiting" CHECK ((("state" = 'WAITING_APPROVAL') = ("open_approvals" > 0)) AND "open_approvals" >= 0),
  ADD CONSTRAINT "runs_effects" CHECK ("effects" IN ('NONE', 'KNOWN', 'UNKNOWN'));
ALTER TABLE "runs" ADD CONSTRAINT "runs_session" FOREIGN KEY ("project_id", "session_id") REFERENCES "sessions" ("project_id", "id");
CREATE INDEX "runs_live" ON "runs" ("project_id", "session_id") WHERE "ended_at" IS NULL;
CREATE INDEX "runs_live_by_runtime" ON "runs" ("project_id", "runtime_id") WHERE "ended_at" IS NULL;
CREATE INDEX "runs_live_offers" ON "runs" ("offer_expires_at") WHERE "state" = 'OFFERED';
CREATE INDEX "runs_live_deadlines" ON "runs" ("deadline_at") WHERE "state" = 'RUNNING';

ALTER TABLE "approvals"
  ADD CONSTRAINT "approvals_kind" CHECK ("kind" IN ('TOOL', 'PLAN', 'QUESTION', 'HANDOFF')),
  ADD CONSTRAINT "approvals_state" CHECK ("state" IN ('OPEN', 'ANSWERED', 'EXPIRED', 'WITHDRAWN')),
  ADD CONSTRAINT "approvals_decided" CHECK (("state" IN ('ANSWERED', 'EXPIRED')) = ("decision" IS NOT NULL)),
  ADD CONSTRAINT "approvals_default" CHECK ("default_decision" = ANY ("options") AND ("decision" IS NULL OR "decision" = ANY ("options")));
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_run" FOREIGN KEY ("project_id", "run_id") REFERENCES "runs" ("project_id", "id");
CREATE INDEX "approvals_open" ON "approvals" ("expires_at") WHERE "state" = 'OPEN';
CREATE INDEX "approvals_open_of_project" ON "approvals" ("project_id", "created_at" DESC, "id" DESC) WHERE "state" = 'OPEN';

ALTER TABLE "runtimes"
  ADD CONSTRAINT "runtimes_state" CHECK ("state" IN ('CONNECTED', 'DISCONNECTED')),
  ADD CONSTRAINT "runtimes_slots" CHECK ("max_concurrent_runs" BETWEEN 1 AND 10000 AND "live_runs" >= 0);
CREATE INDEX "runtime_signals_unheard" ON "runtime_signals" ("project_id", "runtime_id", "position") WHERE "acknowledged_at" IS NULL;

ALTER TABLE "inbox_items"
  ADD CONSTRAINT "inbox_items_state" CHECK ("state" IN ('OPEN', 'ACKNOWLEDGED', 'HANDLED')),
  ADD CONSTRAINT "inbox_items_handled" CHECK (("state" = 'OPEN') = ("handled_at" IS NULL));
CREATE UNIQUE INDEX "inbox_items_one_of_approval" ON "inbox_items" ("project_id", "approval_id") WHERE "approval_id" IS NOT NULL;
CREATE UNIQUE INDEX "inbox_items_one_of_run" ON "inbox_items" ("project_id", "run_id", "kind") WHERE "approval_id" IS NULL;

ALTER TABLE "outbox" ADD CONSTRAINT "outbox_state" CHECK ("state" IN ('QUEUED', 'SENT', 'DEAD') AND ("state" = 'SENT') = ("sent_at" IS NOT NULL));
CREATE INDEX "outbox_due" ON "outbox" ("due_at") WHERE "state" = 'QUEUED';
CREATE INDEX "outbox_dead" ON "outbox" ("project_id") WHERE "state" = 'DEAD';

-- Append-only: nothing updates these rows, and only a purge (of a deleted session, or of retention), which marks its
-- own transaction, deletes them.
CREATE FUNCTION "append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('wheelhouse.purge', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "session_events" FOR EACH ROW EXECUTE FUNCTION "append_only"();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "project_events" FOR EACH ROW EXECUTE FUNCTION "append_only"();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "messages" FOR EACH ROW EXECUTE FUNCTION "append_only"();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "audit_entries" FOR EACH ROW EXECUTE FUNCTION "append_only"();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "route_decisions" FOR EACH ROW EXECUTE FUNCTION "append_only"();

-- A run or an approval that has ended never changes its state again.
CREATE FUNCTION "state_is_final"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = ANY (TG_ARGV) AND NEW.state IS DISTINCT FROM OLD.state THEN
    RAISE EXCEPTION '% in state % is final', TG_TABLE_NAME, OLD.state USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "state_is_final" BEFORE UPDATE OF "state" ON "runs" FOR EACH ROW EXECUTE FUNCTION "state_is_final"('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT');
CREATE TRIGGER "state_is_final" BEFORE UPDATE OF "state" ON "approvals" FOR EACH ROW EXECUTE FUNCTION "state_is_final"('ANSWERED', 'EXPIRED', 'WITHDRAWN');
