import { createHash } from 'node:crypto';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The style attribute of Kit's route announcer; without it the announced title stands visible at the foot of the page. */
const ANNOUNCER = "'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo='";

/** The content security policy of the shell: its own inline scripts by hash, and nothing from another origin. */
export function policyOf(html: string): string {
  const inline = html
    .split('<script>')
    .slice(1)
    .map((rest) => hashOf(rest.split('</script>')[0] ?? ''));
  return [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval' ${inline.join(' ')}`,
    "style-src 'self'",
    `style-src-attr 'unsafe-hashes' ${ANNOUNCER}`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types svelte-trusted-html sveltekit-trusted-url default',
  ].join('; ');
}
