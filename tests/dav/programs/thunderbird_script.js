// What thunderbird.py runs in Thunderbird's own context. `steps` are its commands; each may be asynchronous.
const { setTimeout } = ChromeUtils.importESModule("resource://gre/modules/Timer.sys.mjs");
const { MailServices } = ChromeUtils.importESModule("resource:///modules/MailServices.sys.mjs");
const { AddrBookCard } = ChromeUtils.importESModule("resource:///modules/AddrBookCard.sys.mjs");
const { CardDAVDirectory } = ChromeUtils.importESModule("resource:///modules/CardDAVDirectory.sys.mjs");
const { CardDAVUtils } = ChromeUtils.importESModule("resource:///modules/CardDAVUtils.sys.mjs");
const { CalDavProvider } = ChromeUtils.importESModule("resource:///modules/CalDavProvider.sys.mjs");
const { CalTodo } = ChromeUtils.importESModule("resource:///modules/CalTodo.sys.mjs");
const { cal } = ChromeUtils.importESModule("resource:///modules/calendar/calUtils.sys.mjs");

const CARDDAV = 102; // the type of directories that a server has

function book() {
  const found = MailServices.ab.directories.find((directory) => directory.dirType === CARDDAV);
  return CardDAVDirectory.forFile(found.fileName);
}

function card(name) {
  return book().childCards.find((one) => one.displayName.includes(name));
}

function calendar(name) {
  return cal.manager.getCalendars().find((one) => one.name === name);
}

async function items(name) {
  const wanted = Ci.calICalendar.ITEM_FILTER_TYPE_ALL | Ci.calICalendar.ITEM_FILTER_COMPLETED_ALL;
  return calendar(name).getItemsAsArray(wanted, 0, null, null);
}

const steps = {
  // The password, so that nothing asks the person for it.
  async login(origin, realm, user, password) {
    const login = Cc["@mozilla.org/login-manager/loginInfo;1"].createInstance(Ci.nsILoginInfo);
    login.init(origin, null, realm, user, password, "", "");
    await Services.logins.addLoginAsync(login);
  },
  // Finds the books of the server, adds the first, and reads it; returns the names and addresses of all.
  async addBook(user, password, url) {
    const books = await CardDAVUtils.detectAddressBooks(user, password, url, false);
    await books[0].create();
    return books.map((one) => [one.name, one.url.href]);
  },
  isReadOnly: () => book().readOnly,
  cards: () => book().childCards.map((one) => one.getProperty("_vCard", "")),
  sync: () => book().syncWithServer(),
  async syncWithToken(token) {
    book()._syncToken = token;
    await book().syncWithServer();
    return book()._syncToken;
  },
  edit(name, values) {
    const one = card(name);
    const properties = one.vCardProperties;
    for (const [property, value] of Object.entries(values)) {
      properties.getFirstEntry(property).value = value;
    }
    one.setProperty("_vCard", properties.toVCard());
    book().modifyCard(one);
  },
  create(given, family, mail) {
    const one = new AddrBookCard();
    one.displayName = `${given} ${family}`;
    one.firstName = given;
    one.lastName = family;
    one.primaryEmail = mail;
    book().addCard(one);
  },
  delete: (name) => book().deleteCards([card(name)]),
  // Finds the calendars of the server and adds all; returns name, address, and whether each is read-only.
  async addCalendars(user, password, url) {
    const found = await CalDavProvider.detectCalendars(user, password, url, false, {});
    for (const one of found) {
      one.setProperty("username", user);
      cal.manager.registerCalendar(one);
    }
    return found.map((one) => [one.name, one.uri.spec, one.readOnly]);
  },
  isCalendarReadOnly: (name) => calendar(name).readOnly,
  refresh: (name) => void calendar(name).refresh(),
  items: async (name) => (await items(name)).map((one) => one.icalString),
  async tick(name, title) {
    const old = (await items(name)).find((one) => one.title.startsWith(title));
    const done = old.clone();
    done.isCompleted = true;
    await calendar(name).modifyItem(done, old);
  },
  async createTask(name, title) {
    const task = new CalTodo();
    task.title = title;
    await calendar(name).addItem(task);
  },
};
