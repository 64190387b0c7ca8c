-- AlterTable
ALTER TABLE "projects" ADD COLUMN     "mcp_allow" JSONB,
ADD COLUMN     "route_correction" TEXT NOT NULL DEFAULT 'AGENT',
ADD COLUMN     "skill_allow" TEXT[],
ADD COLUMN     "skill_deny" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- What the schema language can't say.

ALTER TABLE "projects"
  ALTER COLUMN "skill_deny" SET NOT NULL,
  ADD CONSTRAINT "projects_route_correction" CHECK ("route_correction" IN ('AGENT', 'OWNER_CONFIRMS', 'OFF')),
  ADD CONSTRAINT "projects_mcp_allow" CHECK (jsonb_typeof("mcp_allow") = 'array');
