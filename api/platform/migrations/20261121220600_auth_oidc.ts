import type { Knex } from 'knex';

/** Sign-ins under way at an OpenID provider, and what its back-channel logout finds sessions by (area Auth). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table oidc_flows (
      state_hash bytea primary key, binding_hash bytea not null,
      client_id text,
      intent text not null check (intent in ('sign-in', 'link', 'confirm')),
      -- of link and confirm: the one that began
      session_id uuid references sessions on delete cascade,
      issuer text not null,
      verifier_sealed text not null, nonce text not null,
      redirect_uri text not null, return_to text,
      keep text not null, remember boolean not null,
      expires_at timestamptz not null
    );
    create index oidc_flows_session on oidc_flows (session_id) where session_id is not null;
    create index oidc_flows_expiry on oidc_flows (expires_at);

    alter table sessions add column oidc_issuer text, add column oidc_subject text, add column oidc_sid text;
    create index sessions_oidc on sessions (oidc_issuer, oidc_subject) where oidc_issuer is not null;
    create index sessions_oidc_sid on sessions (oidc_issuer, oidc_sid) where oidc_sid is not null;
    -- between the provider's answer and the second factor
    alter table sign_in_challenges add column oidc jsonb;

    create table oidc_logouts (
      issuer text, jti text, at timestamptz not null default now(), primary key (issuer, jti)
    );
    create index oidc_logouts_at on oidc_logouts (at);
  `);
}
