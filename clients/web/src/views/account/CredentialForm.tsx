// Form for credentials: submits one attempt at a time and shows its error.
import { type FormEvent, type ReactNode, useState } from "react";

interface Props {
  /** Fields and explanations. */
  children: ReactNode;
  className?: string;
  /** Error of an earlier attempt. */
  reason?: string | undefined;
  button: string;
  busy: string;
  /** Alternative action beside the submit button. */
  second: ReactNode;
  prove: (form: FormData) => Promise<void>;
}

/** An error of one field, which gets the focus. */
export class FieldError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

export function CredentialForm({ children, className = "", reason, button, busy, second, prove }: Props) {
  const [error, setError] = useState(reason);
  const [isBusy, setIsBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // React events bubble through portals: an outer form must not submit too.
    event.stopPropagation();
    setIsBusy(true);
    setError(undefined);
    const form = event.currentTarget;
    await prove(new FormData(form)).catch((failure: Error) => {
      setError(failure.message);
      const field = failure instanceof FieldError ? form.elements.namedItem(failure.field) : undefined;
      if (field instanceof HTMLInputElement) (field.focus(), field.select());
    });
    setIsBusy(false);
  };
  return (
    <form className={`${className} stack`} onSubmit={(event) => void submit(event)}>
      {children}
      {error && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <div className="row">
        <button className="button primary" disabled={isBusy}>
          {isBusy ? busy : button}
        </button>
        {second}
      </div>
    </form>
  );
}

interface FieldProps {
  label: string;
  name: string;
  isSecret?: boolean;
  isFirst?: boolean;
  className?: string;
  autoComplete: "username" | "name" | "current-password" | "new-password" | "off";
  defaultValue?: string;
  minLength?: number;
  help?: ReactNode;
}

/** A new password, typed twice. */
export function NewPassword({ isFirst = false }: { isFirst?: boolean }) {
  return (
    <>
      <CredentialField
        label="New password"
        name="password"
        isSecret
        isFirst={isFirst}
        minLength={10}
        autoComplete="new-password"
        help="At least 10 characters."
      />
      <CredentialField label="Repeat the password" name="again" isSecret autoComplete="new-password" />
    </>
  );
}

export function CredentialField({
  label,
  name,
  isSecret,
  isFirst,
  className = "",
  autoComplete,
  defaultValue,
  minLength,
  help,
}: FieldProps) {
  return (
    <label className="stack tight">
      {label}
      <input
        className={`field ${className}`}
        name={name}
        type={isSecret ? "password" : "text"}
        required
        autoFocus={isFirst}
        autoComplete={autoComplete}
        defaultValue={defaultValue}
        minLength={minLength}
        spellCheck={false}
        aria-describedby={help === undefined ? undefined : `${name}-help`}
      />
      {help !== undefined && (
        <span id={`${name}-help`} className="quiet small">
          {help}
        </span>
      )}
    </label>
  );
}
