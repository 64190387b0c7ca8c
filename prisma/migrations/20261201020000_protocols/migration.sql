-- AlterTable
ALTER TABLE "projects" ADD COLUMN     "allowed_protocols" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "protocol_versions" (
    "project_id" UUID NOT NULL,
    "id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "definition" JSONB NOT NULL,
    "source" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "registered_by" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "protocol_versions_pkey" PRIMARY KEY ("project_id","id","version")
);

-- What the schema language can't say.

ALTER TABLE "projects"
  ALTER COLUMN "allowed_protocols" SET NOT NULL,
  ADD CONSTRAINT "projects_allowed_protocols" CHECK (
    cardinality("allowed_protocols") = 0
    OR (cardinality("allowed_protocols") <= 101 AND 'general-task' = ANY ("allowed_protocols"))
  );

ALTER TABLE "protocol_versions"
  ADD CONSTRAINT "protocol_versions_id" CHECK ("id" ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length("id") <= 64),
  ADD CONSTRAINT "protocol_versions_version" CHECK ("version" >= 1),
  ADD CONSTRAINT "protocol_versions_format" CHECK ("format" IN ('YAML', 'JSON')),
  ADD CONSTRAINT "protocol_versions_source" CHECK (octet_length("source") <= 65536),
  ADD CONSTRAINT "protocol_versions_digest" CHECK ("digest" ~ '^[0-9a-f]{64}$'),
  ADD CONSTRAINT "protocol_versions_definition" CHECK (
    "definition" ->> 'id' = "id" AND ("definition" ->> 'version')::int = "version" AND "definition" ->> 'title' = "title"
  ),
  ADD CONSTRAINT "protocol_versions_project" FOREIGN KEY ("project_id") REFERENCES "projects" ("id");

CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "protocol_versions" FOR EACH ROW EXECUTE FUNCTION "append_only"();

-- The versions of a protocol have no gaps: each is one more than the one before.
CREATE FUNCTION "protocol_version_follows"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.version > 1 AND NOT EXISTS (
    SELECT FROM protocol_versions v
     WHERE v.project_id = NEW.project_id AND v.id = NEW.id AND v.version = NEW.version - 1
  ) THEN
    RAISE EXCEPTION 'version % of protocol % follows none', NEW.version, NEW.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "protocol_version_follows" BEFORE INSERT ON "protocol_versions" FOR EACH ROW EXECUTE FUNCTION "protocol_version_follows"();
