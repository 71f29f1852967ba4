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
  'server.name': setting(z.string().trim().min(1).max(60).default('Foyer'), 'Server', 'P'),
  'server.publicUrl': setting(
    address(WEB)
      .refine(originOnly, { error: 'an origin, without a path', params: { code: 'invalid_url' } })
      .nullable()
      .default(null),
    'Server',
    'P',
  ),
  'server.country': setting(country().nullable().default(null), 'Discover'),
  'server.language': setting(language().default('en'), 'Server', 'P'),
  'server.timeZone': setting(zone().default('UTC'), 'Server', 'P'),
  'server.notice': setting(emptiable(200), 'Server', 'P'),
  'network.trustedProxies': setting(networks(), 'Auth'),
  'network.localRanges': setting(networks(...LOCAL), 'Playback'),
  'network.offline': setting(bool(false), 'Settings'),
  'network.corsOrigins': setting(origins(20), 'Server'),
  'auth.password.enabled': setting(bool(true), 'Auth', 'P'),
  'auth.password.minLength': setting(int(8, 64, 8), 'Auth', 'P'),
  'auth.passkeys.enabled': setting(bool(true), 'Auth', 'P'),
  'auth.quickConnect.enabled': setting(bool(true), 'Auth', 'P'),
  'auth.accountTiles': setting(bool(false), 'Auth', 'P'),
  'auth.sessionMaxDays': setting(int(1, 3650, 365), 'Auth'),
  'auth.twoFactor.requiredRoles': setting(
    z
      .array(z.enum(['owner', 'admin', 'member']))
      .max(3)
      .default([]),
    'Auth',
  ),
  'auth.oidc.issuer': setting(maybeAddress(), 'Auth', 'O'),
  'auth.oidc.clientId': setting(maybeText(200), 'Auth', 'O'),
  'auth.oidc.clientSecret': setting(maybeSecret(500), 'Auth', 'O', 'S'),
  'auth.oidc.name': setting(maybeText(60), 'Auth', 'O', 'P'),
  'auth.oidc.scopes': setting(strings(20, 'openid', 'profile', 'email'), 'Auth', 'O'),
  'auth.oidc.createAccounts': setting(bool(false), 'Auth', 'O'),
  'auth.oidc.linkBy': setting(z.enum(['none', 'verified-email', 'username']).default('none'), 'Auth', 'O'),
  'auth.oidc.defaultRole': setting(z.enum(['member', 'child', 'guest']).default('member'), 'Auth', 'O'),
  'auth.oidc.groupsClaim': setting(maybeText(100), 'Auth', 'O'),
  'auth.oidc.roleMap': setting(
    z.record(z.string().min(1).max(200), z.enum(['admin', 'member', 'child', 'guest'])).default({}),
    'Auth',
    'O',
  ),
  'auth.oidc.trustsSecondFactor': setting(bool(false), 'Auth', 'O'),
  'auth.oidc.automatic': setting(bool(false), 'Auth', 'O', 'P'),
  'auth.oidc.redirectUris': setting(strings(20), 'Auth', 'O'),
  'users.guestDays': setting(maybeInt(1, 3650), 'Users'),
  'email.enabled': setting(bool(false), 'Email'),
  'email.smtp.host': setting(maybeText(253), 'Email'),
  'email.smtp.port': setting(int(1, 65_535, 587), 'Email'),
  'email.smtp.security': setting(z.enum(['tls', 'starttls', 'none']).default('starttls'), 'Email'),
  'email.smtp.username': setting(emptiable(200), 'Email'),
  'email.smtp.password': setting(maybeSecret(500), 'Email', 'S'),
  'email.smtp.allowUntrusted': setting(bool(false), 'Email'),
  'email.from': setting(maybeMailbox(), 'Email'),
  'email.replyTo': setting(maybeMailbox(), 'Email'),
  'email.perHour': setting(int(1, 100_000, 500), 'Email'),
  'email.digest.enabled': setting(bool(true), 'Email'),
  'email.digest.day': setting(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']).default('sun'), 'Email'),
  'email.digest.hour': setting(int(0, 23, 9), 'Email'),
  'push.enabled': setting(bool(true), 'Notifications'),
};
