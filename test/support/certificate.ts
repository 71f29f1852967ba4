import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { temporaryFolder } from './stores.ts';

/** A certificate for loopback, which this process alone trusts from here on. */
export function trustedCertificate(name: string): { key: Buffer; cert: Buffer } {
  const folder = temporaryFolder(name);
  const file = (part: string) => join(folder, part);
  const subject = ['-subj', `/CN=${name}.test`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', file('key'), '-out', file('cert'), '-days', '2'];
  execFileSync('openssl', ['req', ...made, ...subject], { stdio: 'ignore' });
  const cert = readFileSync(file('cert'));
  setDefaultCACertificates([...getCACertificates('default'), cert.toString()]);
  return { key: readFileSync(file('key')), cert };
}
