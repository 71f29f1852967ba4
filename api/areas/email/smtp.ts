import type { Settings, SettingValue } from '#platform/settings.ts';
import type { UnsavedSettings } from './email.schemas.ts';

/** Connection to the mail server, and the sender. */
export interface Smtp {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  username: string | null;
  password: string | null;
  allowUntrusted: boolean;
  from: string;
  replyTo: string | null;
}

type Value<K extends keyof UnsavedSettings> = SettingValue<K>;

/** Undefined without host or sender. The saved password is used for the saved host only. */
export function smtpOf(settings: Settings, unsaved: UnsavedSettings = {}): Smtp | undefined {
  const at = <K extends keyof UnsavedSettings>(key: K): Value<K> =>
    (unsaved[key] === undefined ? settings.get(key) : unsaved[key]) as Value<K>;
  const [host, from] = [at('email.smtp.host'), at('email.from')];
  if (host === null || from === null) return undefined;
  const elsewhere = host !== settings.get('email.smtp.host') && unsaved['email.smtp.password'] === undefined;
  return {
    host,
    from,
    port: at('email.smtp.port'),
    security: at('email.smtp.security'),
    username: at('email.smtp.username'),
    password: elsewhere ? null : at('email.smtp.password'),
    allowUntrusted: at('email.smtp.allowUntrusted'),
    replyTo: settings.get('email.replyTo'),
  };
}
