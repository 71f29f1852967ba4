import { z } from 'zod';
import {
  address,
  bool,
  country,
  emptiable,
  int,
  language,
  maybeAddress,
  maybeInt,
  maybeMailbox,
  maybeSecret,
  maybeText,
  networks,
  origins,
  setting,
  strings,
  zone,
} from './define.ts';

const LOCAL = [
  '10.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];
const WEB = ['http:', 'https:'];
const originOnly = (text: string): boolean => ['', '/'].includes(new URL(text).pathname) && new URL(text).search === '';

/** Groups server, network, auth, users, email, push. */
export const serverKeys = {
  'server.name': setting(z.string().trim().min(1).max(60).default('Foyer'), 'Server: name of the server', 'P'),
  'server.publicUrl': setting(
    address(WEB)
      .refine(originOnly, { error: 'an origin, without a path', params: { code: 'invalid_url' } })
      .nullable()
      .default(null),
    'Server: address of the server for people',
    'P',
  ),
  'server.country': setting(country().nullable().default(null), 'Discover: country of the household'),
  'server.language': setting(language().default('en'), 'Server: language of the server', 'P'),
  'server.timeZone': setting(zone().default('UTC'), 'Server: time zone of schedules and days', 'P'),
  'server.notice': setting(emptiable(200), 'Server: notice shown to everyone', 'P'),
  'network.trustedProxies': setting(networks(), 'Auth: networks of proxies whose X-Forwarded headers count'),
  'network.localRanges': setting(networks(...LOCAL), 'Playback: networks taken as at home'),
  'network.offline': setting(bool(false), 'Settings: no call leaves the cluster and the local ranges'),
  'network.corsOrigins': setting(origins(20), 'Server: origins that may call with bearer tokens'),
  'auth.password.enabled': setting(bool(true), 'Auth: sign in by password', 'P'),
  'auth.password.minLength': setting(int(8, 64, 8), 'Auth: shortest password', 'P'),
  'auth.passkeys.enabled': setting(bool(true), 'Auth: sign in by passkey', 'P'),
  'auth.quickConnect.enabled': setting(bool(true), 'Auth: sign in by a code approved on another device', 'P'),
  'auth.accountTiles': setting(bool(false), 'Auth: show accounts before signing in, at home', 'P'),
  'auth.sessionMaxDays': setting(int(1, 3650, 365), 'Auth: longest session, in days'),
  'auth.twoFactor.requiredRoles': setting(
    z
      .array(z.enum(['owner', 'admin', 'member']))
      .max(3)
      .default([]),
    'Auth: roles that need a second factor',
  ),
  'auth.oidc.issuer': setting(maybeAddress(), 'Auth: issuer of the OpenID provider', 'O'),
  'auth.oidc.clientId': setting(maybeText(200), 'Auth: client id at the OpenID provider', 'O'),
  'auth.oidc.clientSecret': setting(maybeSecret(500), 'Auth: client secret at the OpenID provider', 'O', 'S'),
  'auth.oidc.name': setting(maybeText(60), 'Auth: name on the sign-in button', 'O', 'P'),
  'auth.oidc.scopes': setting(strings(20, 'openid', 'profile', 'email'), 'Auth: scopes asked for', 'O'),
  'auth.oidc.createAccounts': setting(bool(false), 'Auth: make accounts for unknown people', 'O'),
  'auth.oidc.linkBy': setting(
    z.enum(['none', 'verified-email', 'username']).default('none'),
    'Auth: how existing accounts are found',
    'O',
  ),
  'auth.oidc.defaultRole': setting(
    z.enum(['member', 'child', 'guest']).default('member'),
    'Auth: role of accounts made',
    'O',
  ),
  'auth.oidc.groupsClaim': setting(maybeText(100), 'Auth: claim with the groups', 'O'),
  'auth.oidc.roleMap': setting(
    z.record(z.string().min(1).max(200), z.enum(['admin', 'member', 'child', 'guest'])).default({}),
    'Auth: group to role',
    'O',
  ),
  'auth.oidc.trustsSecondFactor': setting(bool(false), "Auth: the provider's second factor counts", 'O'),
  'auth.oidc.automatic': setting(bool(false), 'Auth: go to the provider without asking', 'O', 'P'),
  'auth.oidc.redirectUris': setting(strings(20), 'Auth: addresses of apps that may be returned to', 'O'),
  'users.guestDays': setting(maybeInt(1, 3650), 'Users: days that a guest account lives'),
  'email.enabled': setting(bool(false), 'Email: send mail'),
  'email.smtp.host': setting(maybeText(253), 'Email: SMTP host'),
  'email.smtp.port': setting(int(1, 65_535, 587), 'Email: SMTP port'),
  'email.smtp.security': setting(
    z.enum(['tls', 'starttls', 'none']).default('starttls'),
    'Email: how the connection is secured',
  ),
  'email.smtp.username': setting(emptiable(200), 'Email: SMTP user'),
  'email.smtp.password': setting(maybeSecret(500), 'Email: SMTP password', 'S'),
  'email.smtp.allowUntrusted': setting(bool(false), 'Email: accept any certificate'),
  'email.from': setting(maybeMailbox(), 'Email: sender'),
  'email.replyTo': setting(maybeMailbox(), 'Email: address for replies'),
  'email.perHour': setting(int(1, 100_000, 500), 'Email: most mails an hour'),
  'email.digest.enabled': setting(bool(true), 'Email: send the weekly digest'),
  'email.digest.day': setting(
    z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']).default('sun'),
    'Email: day of the digest',
  ),
  'email.digest.hour': setting(int(0, 23, 9), 'Email: hour of the digest'),
  'push.enabled': setting(bool(true), 'Notifications: web push'),
};
