<?php
// sabre/dav as a book for one user; any password is good.
error_reporting(E_ALL & ~E_DEPRECATED & ~E_NOTICE & ~E_WARNING & ~E_STRICT);
ini_set('display_errors', '0');
date_default_timezone_set('UTC');
require_once 'Sabre/autoload.php';
class AnyPassword extends Sabre\DAV\Auth\Backend\AbstractBasic {
    protected function validateUserPass($user, $password) { return $user === 'user'; }
}
$pdo = new PDO('sqlite:' . getenv('SABRE_DATABASE'));
$pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$principals = new Sabre\DAVACL\PrincipalBackend\PDO($pdo);
$server = new Sabre\DAV\Server([
    new Sabre\DAVACL\PrincipalCollection($principals),
    new Sabre\CardDAV\AddressBookRoot($principals, new Sabre\CardDAV\Backend\PDO($pdo)),
]);
$server->setBaseUri('/');
$server->addPlugin(new Sabre\DAV\Auth\Plugin(new AnyPassword(), 'SabreDAV'));
$server->addPlugin(new Sabre\CardDAV\Plugin());
$server->addPlugin(new Sabre\DAVACL\Plugin());
$server->exec();
